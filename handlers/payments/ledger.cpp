#include "handlers/payments/ledger.h"

#include <algorithm>

#include "domain/text.h"
#include "handlers/payments/extraction.h"
#include "handlers/payments/sql_fact_book.h"

namespace hookgate {
namespace {

// What the event's bodies say together: the first one's facts, and what other versions add.
Extraction extract_all(const Event& event) {
  auto extraction = extract(event.provider, event.body, event.item);
  auto* extracted = std::get_if<Extracted>(&extraction);
  if (extracted == nullptr) return extraction;
  const auto first = extracted->updates;
  for (const auto& version : event.versions) {
    if (version.kind == EventVersion::Kind::kConflict) {
      for (const auto& update : first) {
        FactUpdate contradiction{update.payment, {}};
        contradiction.fact.kind = fact_kind::kContradiction;
        contradiction.fact.id = event.event_id;
        contradiction.fact.parent = update.fact.parent;
        Observation observation;
        observation.code = event.event_type;
        contradiction.fact.observations.insert(std::move(observation));
        extracted->updates.push_back(std::move(contradiction));
      }
      // Of two Stripe bodies the first counts; of two Adyen items neither amount does.
      if (event.provider == "stripe") continue;
    }
    const auto other = extract(event.provider, version.body, version.item);
    if (const auto* more = std::get_if<Extracted>(&other)) {
      std::ranges::copy(more->updates, std::back_inserter(extracted->updates));
    }
  }
  return extraction;
}

// Ids enter text columns; what cannot is replaced, in the same way every time.
void clean(Extracted& extracted) {
  extracted.account = clean_text(extracted.account);
  for (auto& update : extracted.updates) {
    update.payment = clean_text(update.payment);
    update.fact.id = clean_text(update.fact.id);
    update.fact.parent = clean_text(update.fact.parent);
    std::set<Observation> cleaned;
    for (auto observation : update.fact.observations) {
      for (auto* text : {&observation.code, &observation.status, &observation.currency,
                         &observation.reason, &observation.version, &observation.reference}) {
        *text = clean_text(*text);
      }
      cleaned.insert(std::move(observation));
    }
    update.fact.observations = std::move(cleaned);
  }
}

std::string lock_name(const std::string& provider, const std::string& account,
                      std::string_view what, const std::string& id) {
  return "payments/" + provider + "/" + account + "/" + std::string{what} + "/" + id;
}

}  // namespace

std::vector<std::string> PaymentsLedger::lock_keys(const Event& event) const {
  auto extraction = extract_all(event);
  auto* extracted = std::get_if<Extracted>(&extraction);
  if (extracted == nullptr) return {};
  clean(*extracted);
  std::vector<std::string> names;
  const auto add = [&](std::string_view what, const std::string& id) {
    if (!id.empty()) names.push_back(lock_name(event.provider, extracted->account, what, id));
  };
  for (const auto& update : extracted->updates) {
    for (const auto& id : {update.payment, update.fact.id, update.fact.parent}) add("object", id);
    for (const auto& observation : update.fact.observations) add("order", observation.reference);
  }
  return names;
}

Outcome PaymentsLedger::handle(const Event& event, HandlerContext& context) {
  auto extraction = extract_all(event);
  if (std::holds_alternative<NotForTheLedger>(extraction)) return Ignored{};
  if (const auto* unreadable = std::get_if<Unreadable>(&extraction))
    return GiveUp{unreadable->reason};
  auto& extracted = std::get<Extracted>(extraction);
  clean(extracted);

  SqlFactBook book{context.sql(), event.provider, extracted.account};
  for (const auto& update : extracted.updates) {
    // A payment that only a link names was not known when the worker took the locks.
    if (!update.payment.empty() || update.fact.parent.empty()) continue;
    const auto linked = book.payment_of_charge(update.fact.parent);
    if (!linked.empty()) book.lock(lock_name(event.provider, extracted.account, "object", linked));
  }
  const auto affected = enter(book, extracted.updates);
  std::set<std::string> references;
  for (const auto& payment : affected) {
    references.insert(book.reference_of(payment));
    const auto facts = book.facts_of(payment);
    if (facts.empty()) {
      book.remove_payment(payment);
      continue;
    }
    const auto state = fold(event.provider, payment, facts, settings_);
    book.write_payment(payment, state);
    references.insert(state.reference);
  }
  for (const auto& reference : references) {
    if (reference.empty()) continue;
    book.lock(lock_name(event.provider, extracted.account, "order", reference));
    book.flag_duplicates(reference);
  }
  return Done{};
}

}  // namespace hookgate
