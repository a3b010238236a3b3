#include "handlers/payments/fact_book.h"

namespace hookgate {
namespace {

// The Stripe charge the fact is or hangs on; "" for none.
const std::string& charge_of(const Fact& fact) {
  return fact.kind == fact_kind::kCharge ? fact.id : fact.parent;
}

// The payment the fact's events name, else one that is known otherwise; "" to park it.
std::string payment_for(FactBook& book, const Fact& fact, const std::string& known) {
  auto named = fact.named_payment();
  if (!named.empty()) return named;
  const auto& charge = charge_of(fact);
  if (!charge.empty()) {
    auto linked = book.payment_of_charge(charge);
    if (!linked.empty()) return linked;
    // A charge whose intent nobody has named is a payment of its own; what hangs on it makes none.
    return fact.kind == fact_kind::kCharge ? charge : "";
  }
  if (!known.empty()) return known;
  // Adyen: an event of a dispute that carries the payment's reference instead of its own.
  const bool is_of_payment = fact.kind == fact_kind::kDispute && book.has_payment(fact.id);
  return is_of_payment ? fact.id : "";
}

void enter_one(FactBook& book, const FactUpdate& update, std::set<std::string>& affected) {
  const auto stored = book.find(update.fact.kind, update.fact.id);
  auto entry = stored.value_or(FactUpdate{});
  const auto known = entry.payment;
  entry.fact.kind = update.fact.kind;
  entry.fact.id = update.fact.id;
  const bool grew = entry.fact.merge(update.fact);
  entry.payment = payment_for(book, entry.fact, known);
  const auto& charge = charge_of(entry.fact);
  // The charge was taken for a payment of its own until now.
  const bool is_elsewhere = !entry.payment.empty() && entry.payment != charge;
  if (!charge.empty() && is_elsewhere && book.has_payment(charge)) {
    book.move_facts(charge, entry.payment);
    affected.insert(charge);
  }
  const bool is_news = !stored || grew || entry.payment != known;
  if (is_news) book.put(entry);
  if (!known.empty()) affected.insert(known);
  if (entry.payment.empty()) return;
  affected.insert(entry.payment);
  if (!charge.empty()) {
    if (is_news) book.adopt_by_charge(charge, entry.payment);
  } else if (entry.payment != known && entry.fact.kind != fact_kind::kIntent) {
    book.adopt_dispute(entry.payment);
  }
}

}  // namespace

std::set<std::string> enter(FactBook& book, const std::vector<FactUpdate>& updates) {
  std::set<std::string> affected;
  for (const auto& update : updates) enter_one(book, update, affected);
  return affected;
}

}  // namespace hookgate
