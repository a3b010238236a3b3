#include "handlers/payments/ledger.h"

#include <set>

#include "handlers/payments/sql_fact_book.h"
#include "handlers/payments/versions.h"

namespace hookgate {
namespace {

// Names of the locks of one account. Whoever changes a fact or a payment holds the lock of its id;
// whoever decides which payments share an order, that of the order.
class LockNames {
 public:
  LockNames(const std::string& provider, const std::string& account)
      : prefix_("payments/" + provider + "/" + account + "/") {}
  std::string object(const std::string& id) const { return prefix_ + "object/" + id; }
  std::string order(const std::string& reference) const { return prefix_ + "order/" + reference; }

 private:
  std::string prefix_;
};

// What the event alone tells to be locked.
std::set<std::string> names_of(const LockNames& names, const Extracted& extracted) {
  std::set<std::string> all;
  for (const auto& update : extracted.updates) {
    for (const auto& id : {update.payment, update.fact.id, update.fact.parent}) {
      if (!id.empty()) all.insert(names.object(id));
    }
    for (const auto& seen : update.fact.observations) {
      if (!seen.reference.empty()) all.insert(names.order(seen.reference));
    }
  }
  return all;
}

// Takes what only the facts could tell, once, after what the worker has taken. Two transactions can
// wait for each other here; PostgreSQL ends one of them and its batch runs again at once.
class FurtherLocks {
 public:
  FurtherLocks(SqlFactBook& book, std::set<std::string> held)
      : book_(book), held_(std::move(held)) {}
  void take(const std::string& name) {
    if (held_.insert(name).second) book_.lock(name);
  }

 private:
  SqlFactBook& book_;
  std::set<std::string> held_;
};

// Folds the payment again and writes it. Adds the orders whose set of live payments changed.
void refresh(SqlFactBook& book, const std::string& provider, const std::string& payment,
             const FoldSettings& settings, std::set<std::string>& orders) {
  const auto before = book.standing_of(payment);
  const auto facts = book.facts_of(payment);
  Standing after;
  if (facts.empty()) {
    book.remove_payment(payment);
  } else {
    const auto state = fold(provider, payment, facts, settings);
    book.write_payment(payment, state);
    after = {state.reference, state.is_live()};
  }
  if (before == after || !(before.is_live || after.is_live)) return;
  for (const auto& standing : {before, after}) {
    if (!standing.reference.empty()) orders.insert(standing.reference);
  }
}

}  // namespace

std::vector<std::string> PaymentsLedger::lock_keys(const Event& event) const {
  const auto extraction = extract_all(event);
  const auto* extracted = std::get_if<Extracted>(&extraction);
  if (extracted == nullptr) return {};
  const auto names = names_of(LockNames{event.provider, extracted->account}, *extracted);
  return {names.begin(), names.end()};
}

Outcome PaymentsLedger::handle(const Event& event, HandlerContext& context) {
  const auto extraction = extract_all(event);
  if (std::holds_alternative<NotForTheLedger>(extraction)) return Ignored{};
  if (const auto* unreadable = std::get_if<Unreadable>(&extraction))
    return GiveUp{unreadable->reason};
  const auto& extracted = std::get<Extracted>(extraction);

  const LockNames names{event.provider, extracted.account};
  SqlFactBook book{context.sql(), event.provider, extracted.account, event.id};
  FurtherLocks locks{book, names_of(names, extracted)};
  // The facts are guarded by the locks of their own ids. A payment that the event does not name is
  // known only now: it is locked before its facts are read, or a concurrent event's would be
  // missed.
  const auto affected = enter(book, extracted.updates);
  for (const auto& payment : affected) locks.take(names.object(payment));
  std::set<std::string> orders;
  for (const auto& payment : affected) refresh(book, event.provider, payment, settings_, orders);
  for (const auto& order : orders) {
    locks.take(names.order(order));
    book.flag_duplicates(order);
  }
  return Done{};
}

}  // namespace hookgate
