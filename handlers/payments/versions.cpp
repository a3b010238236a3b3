#include "handlers/payments/versions.h"

#include <algorithm>
#include <iterator>

namespace hookgate {
namespace {

// One an event, on the payment that some body names, or by the charge that one hangs on. An Adyen
// dispute whose payment nobody names gets none: its two bodies are in its own fact.
void add_contradiction(const Event& event, Extracted& extracted) {
  FactUpdate contradiction;
  contradiction.fact.kind = fact_kind::kContradiction;
  contradiction.fact.id = event.event_id;
  Observation observation;
  observation.code = event.event_type;
  for (const auto& update : extracted.updates) {
    const auto& named = update.payment;
    auto& least = contradiction.payment;
    if (!named.empty() && (least.empty() || named < least)) least = named;
    const bool is_charge = update.fact.kind == fact_kind::kCharge;
    const auto& charge = is_charge ? update.fact.id : update.fact.parent;
    if (contradiction.fact.parent.empty()) contradiction.fact.parent = charge;
  }
  if (contradiction.payment.empty() && contradiction.fact.parent.empty()) return;
  observation.payment = contradiction.payment;
  contradiction.fact.observations.insert(std::move(observation));
  extracted.updates.push_back(std::move(contradiction));
}

}  // namespace

Extraction extract_all(const Event& event) {
  auto extraction = extract(event.provider, event.body, event.item);
  auto* extracted = std::get_if<Extracted>(&extraction);
  if (extracted == nullptr) return extraction;
  bool contradicts = false;
  for (const auto& version : event.versions) {
    const bool is_conflict = version.kind == EventVersion::Kind::kConflict;
    contradicts = contradicts || is_conflict;
    if (is_conflict && event.provider == "stripe") continue;
    const auto other = extract(event.provider, version.body, version.item);
    if (const auto* more = std::get_if<Extracted>(&other))
      std::ranges::copy(more->updates, std::back_inserter(extracted->updates));
  }
  if (contradicts) add_contradiction(event, *extracted);
  return extraction;
}

}  // namespace hookgate
