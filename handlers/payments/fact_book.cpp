#include "handlers/payments/fact_book.h"

#include <algorithm>

namespace hookgate {
namespace {

bool is_charge(const Fact& fact) {
  return fact.kind == fact_kind::kCharge;
}

// The Stripe charge the fact is or hangs on; "" for none.
const std::string& charge_of(const Fact& fact) {
  return is_charge(fact) ? fact.id : fact.parent;
}

// The payment the update names, or that is known otherwise; "" to park it.
std::string payment_for(FactBook& book, const FactUpdate& update, const std::string& known) {
  const auto& named = update.payment;
  const auto& charge = charge_of(update.fact);
  const bool is_own = is_charge(update.fact) && named == update.fact.id;
  if (named.empty() || is_own) {
    if (!known.empty() && known != update.fact.id) return known;
    const auto linked = charge.empty() ? "" : book.payment_of_charge(charge);
    if (!linked.empty()) return linked;
    if (is_own || !known.empty()) return is_own ? named : known;
    const bool is_dispute = update.fact.kind == fact_kind::kDispute;
    return is_dispute && charge.empty() && book.has_payment(update.fact.id) ? update.fact.id : "";
  }
  // Two events that name two payments for one object contradict each other; the choice must not
  // depend on which came first. A reference that stood in for the unknown payment is no
  // contradiction.
  const bool contradicts =
      !known.empty() && known != named && known != update.fact.id && known != charge;
  return contradicts ? std::min(known, named) : named;
}

}  // namespace

std::set<std::string> enter(FactBook& book, const std::vector<FactUpdate>& updates) {
  std::set<std::string> affected;
  for (const auto& update : updates) {
    auto entry = book.find(update.fact.kind, update.fact.id).value_or(FactUpdate{"", {}});
    const auto known = entry.payment;
    entry.fact.kind = update.fact.kind;
    entry.fact.id = update.fact.id;
    entry.fact.merge(update.fact);
    entry.payment = payment_for(book, update, known);
    const auto& charge = charge_of(entry.fact);
    // The charge was taken for a payment of its own until now.
    if (!charge.empty() && !entry.payment.empty() && entry.payment != charge &&
        book.has_payment(charge)) {
      book.move_facts(charge, entry.payment);
      affected.insert(charge);
    }
    book.put(entry);
    if (!known.empty()) affected.insert(known);
    if (entry.payment.empty()) continue;
    affected.insert(entry.payment);
    if (!charge.empty()) book.adopt_by_charge(charge, entry.payment);
    book.adopt_dispute(entry.payment);
  }
  return affected;
}

}  // namespace hookgate
