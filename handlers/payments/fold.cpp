#include <algorithm>

#include "handlers/payments/payment_state.h"

namespace hookgate {
namespace {

// Strongest first.
std::string status_of(const Folded& folded) {
  const auto captured = folded.state.captured.value_or(0);
  const auto refunded = folded.state.refunded.value_or(folded.refunded_at_least);
  if (folded.dispute_lost) return "charged_back";
  if (folded.dispute_open) return "disputed";
  if (captured > 0 && refunded >= captured) return "refunded";
  if (captured > 0 && refunded > 0) return "partially_refunded";
  if (captured > 0 && captured < folded.state.authorized.value_or(captured))
    return "partially_captured";
  if (captured > 0) return "captured";
  if (folded.is_expired) return "expired";
  if (folded.is_canceled) return "canceled";
  if (folded.is_authorized) return "authorized";
  if (folded.is_failed) return "failed";
  return "pending";
}

// The authorization's order if it names one, else the least of those that others name: a refund may
// carry a reference of its own.
std::string reference_of(const std::vector<Fact>& facts) {
  std::set<std::string> own;
  std::set<std::string> others;
  for (const auto& fact : facts) {
    const bool is_payment =
        fact.kind == fact_kind::kAuthorization || fact.kind == fact_kind::kIntent;
    for (const auto& observation : fact.observations) {
      if (!observation.reference.empty()) (is_payment ? own : others).insert(observation.reference);
    }
  }
  if (!own.empty()) return *own.begin();
  return others.empty() ? "" : *others.begin();
}

void add_times_and_currency(PaymentState& state, const std::vector<Fact>& facts) {
  std::set<std::string> currencies;
  for (const auto& fact : facts) {
    for (const auto& observation : fact.observations) {
      // A dispute may be booked in the cardholder's currency.
      if (!observation.currency.empty() && fact.kind != fact_kind::kDispute)
        currencies.insert(observation.currency);
      if (!observation.at) continue;
      state.first_event_at =
          std::min(state.first_event_at.value_or(*observation.at), *observation.at);
      state.last_event_at =
          std::max(state.last_event_at.value_or(*observation.at), *observation.at);
    }
  }
  if (!currencies.empty()) state.currency = *currencies.begin();
  if (currencies.size() > 1) state.needs_review = true;
}

void add_milestones(Folded& folded, const std::string& payment_id) {
  auto& state = folded.state;
  const auto reached = [&](bool holds, const char* name) {
    if (holds) state.milestones.emplace(name, payment_id);
  };
  reached(folded.is_authorized, "authorized");
  reached(state.captured.value_or(0) > 0, "captured");
  reached(state.status == "canceled", "canceled");
  reached(state.status == "expired", "expired");
  reached(state.status == "failed", "failed");
}

}  // namespace

Amount add(Amount a, Amount b) {
  std::int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

PaymentState fold(std::string_view provider, const std::string& payment_id,
                  const std::vector<Fact>& facts, const FoldSettings& settings) {
  auto folded = provider == "stripe" ? fold_stripe(facts) : fold_adyen(payment_id, facts, settings);
  auto& state = folded.state;
  add_times_and_currency(state, facts);
  state.reference = reference_of(facts);
  for (const auto& fact : facts) {
    if (fact.kind == fact_kind::kContradiction ||
        fact.observations.size() >= Fact::kObservationsMax) {
      state.needs_review = true;
    }
  }
  if (!state.authorized || !state.captured || !state.refunded || !state.disputed)
    state.needs_review = true;
  state.status = status_of(folded);
  const auto returned =
      add(state.refunded.value_or(folded.refunded_at_least), state.disputed.value_or(0));
  state.over_returned = !returned || *returned > state.captured.value_or(0);
  add_milestones(folded, payment_id);
  return state;
}

}  // namespace hookgate
