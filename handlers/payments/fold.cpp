#include <algorithm>

#include "handlers/payments/payment_state.h"

namespace hookgate {
namespace {

// Strongest first. Where a figure is not decided the status goes by its lowest reading.
std::string status_of(const Folded& folded) {
  const auto authorized = folded.authorized.at_least;
  const auto captured = folded.captured.at_least;
  const auto refunded = folded.refunded.at_least;
  if (folded.dispute_lost) return "charged_back";
  if (folded.dispute_open) return "disputed";
  if (captured > 0 && refunded >= captured) return "refunded";
  if (captured > 0 && refunded > 0) return "partially_refunded";
  if (captured > 0 && captured < authorized) return "partially_captured";
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

void add_times(PaymentState& state, const std::vector<Fact>& facts) {
  for (const auto& fact : facts) {
    for (const auto& seen : fact.observations) {
      if (!seen.at) continue;
      state.first_event_at = std::min(state.first_event_at.value_or(*seen.at), *seen.at);
      state.last_event_at = std::max(state.last_event_at.value_or(*seen.at), *seen.at);
    }
  }
}

// Amounts of two currencies cannot be compared or added: somebody has to look. A dispute alone may
// be in another one (the cardholder's), so the payment's own comes first.
void add_currency(PaymentState& state, const std::vector<Fact>& facts) {
  std::set<std::string> own;
  std::set<std::string> all;
  for (const auto& fact : facts) {
    for (const auto& seen : fact.observations) {
      if (seen.currency.empty()) continue;
      all.insert(seen.currency);
      if (fact.kind != fact_kind::kDispute) own.insert(seen.currency);
    }
  }
  if (all.size() > 1) state.needs_review = true;
  if (!all.empty()) state.currency = own.empty() ? *all.begin() : *own.begin();
}

bool has_contradiction(const std::vector<Fact>& facts) {
  return std::ranges::any_of(facts, [](const Fact& fact) {
    return fact.kind == fact_kind::kContradiction || fact.names_several_payments() ||
           fact.observations.size() >= Fact::kObservationsMax;
  });
}

void add_milestones(PaymentState& state, const Folded& folded, const std::string& payment_id) {
  const auto reached = [&](bool holds, const char* name) {
    if (holds) state.milestones.emplace(name, payment_id);
  };
  reached(folded.is_authorized, "authorized");
  reached(folded.captured.at_least > 0, "captured");
  for (const auto* end : {"canceled", "expired", "failed"}) reached(state.status == end, end);
}

}  // namespace

PaymentState fold(std::string_view provider, const std::string& payment_id,
                  const std::vector<Fact>& facts, const FoldSettings& settings) {
  const auto folded =
      provider == "stripe" ? fold_stripe(facts) : fold_adyen(payment_id, facts, settings);
  PaymentState state;
  state.status = status_of(folded);
  state.reference = reference_of(facts);
  state.authorized = folded.authorized.amount;
  state.captured = folded.captured.amount;
  state.refunded = folded.refunded.amount;
  state.disputed = folded.disputed.amount;
  const bool is_decided = state.authorized && state.captured && state.refunded && state.disputed;
  state.needs_review = folded.needs_review || !is_decided || has_contradiction(facts);
  add_times(state, facts);
  add_currency(state, facts);
  const auto returned = add(folded.refunded.at_least, folded.disputed.at_least);
  state.over_returned = !returned || *returned > folded.captured.at_least;
  state.milestones = folded.milestones;
  add_milestones(state, folded, payment_id);
  return state;
}

}  // namespace hookgate
