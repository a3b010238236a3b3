// An Adyen payment from its authorization, modifications and disputes. Policy: handlers/README.md.
#include <algorithm>
#include <limits>

#include "handlers/payments/payment_state.h"

namespace hookgate {
namespace {

bool knows(const Fact& fact, std::string_view code) {
  return std::ranges::any_of(fact.observations,
                             [&](const Observation& seen) { return seen.code == code; });
}

bool knows_success(const Fact& fact, std::string_view code) {
  return std::ranges::any_of(fact.observations, [&](const Observation& seen) {
    return seen.code == code && seen.status == "true";
  });
}

// The amount all deliveries of these codes name; nothing when they name two.
Amount one_amount(const Fact& fact, std::initializer_list<std::string_view> codes) {
  std::set<std::pair<std::int64_t, std::string>> amounts;
  for (const auto& seen : fact.observations) {
    if (std::ranges::find(codes, seen.code) != codes.end())
      amounts.emplace(seen.amount.value_or(0), seen.currency);
  }
  if (amounts.empty()) return 0;
  if (amounts.size() > 1) return std::nullopt;
  return amounts.begin()->first;
}

Amount authorized_amount(const Fact& fact) {
  std::set<std::pair<std::int64_t, std::string>> amounts;
  for (const auto& seen : fact.observations) {
    if (seen.code == "AUTHORISATION" && seen.status == "true")
      amounts.emplace(seen.amount.value_or(0), seen.currency);
  }
  if (amounts.empty()) return 0;
  if (amounts.size() > 1) return std::nullopt;
  return amounts.begin()->first;
}

// Four things that only grow: accepted, last failure, last recapture, last of any other CAPTURE.
struct Capture {
  bool accepted = false;
  bool failed = false;
  bool unreadable = false;  // a date that is needed cannot be read
  std::optional<std::int64_t> failed_at, recaptured_at, captured_at;
  bool recaptured = false;
};

Capture read_capture(const Fact& fact) {
  Capture capture;
  const auto later = [&](std::optional<std::int64_t>& last, const Observation& seen) {
    if (!seen.at) {
      capture.unreadable = true;
    } else {
      last = std::max(last.value_or(*seen.at), *seen.at);
    }
  };
  for (const auto& seen : fact.observations) {
    if (seen.code == "CAPTURE_FAILED") {
      capture.failed = true;
      later(capture.failed_at, seen);
    } else if (seen.code == "CAPTURE" && seen.status == "true") {
      capture.accepted = true;
      capture.recaptured = capture.recaptured || seen.reason == "recaptured";
      later(seen.reason == "recaptured" ? capture.recaptured_at : capture.captured_at, seen);
    }
  }
  return capture;
}

struct CaptureVerdict {
  bool counts = false;
  bool failure_stands = false;
  bool needs_review = false;
};

CaptureVerdict judge_capture(const Capture& capture) {
  CaptureVerdict verdict;
  if (!capture.failed) {
    verdict.counts = capture.accepted;
    return verdict;
  }
  const bool dates_decide = capture.failed_at && !capture.unreadable;
  const bool is_back = capture.accepted && dates_decide && capture.recaptured_at &&
                       *capture.recaptured_at > *capture.failed_at;
  verdict.counts = is_back;
  verdict.failure_stands = !is_back;
  const bool captured_later =
      capture.captured_at && capture.failed_at && *capture.captured_at > *capture.failed_at;
  const bool date_is_needed = capture.unreadable && capture.accepted;
  verdict.needs_review = !is_back && (capture.recaptured || captured_later || date_is_needed);
  return verdict;
}

enum class DisputeState { kNone, kNotice, kOpen, kOpenWithoutMoney, kWon, kLost };

struct Dispute {
  DisputeState state = DisputeState::kNone;
  Amount amount = 0;
  bool needs_review = false;
};

bool knows_any(const Fact& fact, std::initializer_list<std::string_view> codes) {
  return std::ranges::any_of(codes, [&](std::string_view code) { return knows(fact, code); });
}

// disputeStatus of the latest CHARGEBACK: the one unsigned detail that decides something.
bool chargeback_is_settled(const Fact& fact) {
  std::pair<std::int64_t, std::string> latest{std::numeric_limits<std::int64_t>::min(), ""};
  for (const auto& seen : fact.observations) {
    if (seen.code != "CHARGEBACK") continue;
    latest =
        std::max(latest, {seen.at.value_or(std::numeric_limits<std::int64_t>::min()), seen.reason});
  }
  return latest.second == "Lost" || latest.second == "Accepted" || latest.second == "Expired";
}

Amount dispute_amount(const Fact& fact) {
  if (knows(fact, "SECOND_CHARGEBACK")) return one_amount(fact, {"SECOND_CHARGEBACK"});
  if (knows(fact, "CHARGEBACK")) return one_amount(fact, {"CHARGEBACK"});
  if (knows(fact, "DISPUTE_OPENED_WITH_CHARGEBACK"))
    return one_amount(fact, {"DISPUTE_OPENED_WITH_CHARGEBACK"});
  std::int64_t highest = 0;
  for (const auto& seen : fact.observations) highest = std::max(highest, seen.amount.value_or(0));
  return highest;
}

// By the set of codes, never by dates; final stages outrank the others.
Dispute read_dispute(const Fact& fact) {
  Dispute dispute;
  dispute.amount = dispute_amount(fact);
  const bool lost = knows_any(
      fact, {"SECOND_CHARGEBACK", "SCHEME_ARBITRATION_LOST", "DISPUTE_DEFENSE_PERIOD_ENDED"});
  const bool won = knows_any(
      fact, {"SCHEME_ARBITRATION_WON", "ISSUER_RESPONSE_TIMEFRAME_EXPIRED", "PREARBITRATION_WON"});
  const bool charged_back = knows_any(fact, {"CHARGEBACK", "DISPUTE_OPENED_WITH_CHARGEBACK"});
  const bool reversed = knows(fact, "CHARGEBACK_REVERSED");
  if (lost && won) {
    const bool scheme_lost = knows(fact, "SCHEME_ARBITRATION_LOST");
    const bool scheme_won = knows(fact, "SCHEME_ARBITRATION_WON");
    dispute.needs_review = scheme_lost == scheme_won;
    dispute.state = scheme_won && !scheme_lost ? DisputeState::kWon : DisputeState::kLost;
  } else if (lost || knows(fact, "PREARBITRATION_LOST")) {
    dispute.state = won ? DisputeState::kWon : DisputeState::kLost;
  } else if (won) {
    dispute.state = DisputeState::kWon;
  } else if (knows(fact, "PREARBITRATION_OPEN")) {
    dispute.state =
        charged_back && !reversed ? DisputeState::kOpen : DisputeState::kOpenWithoutMoney;
  } else if (reversed) {
    dispute.state = DisputeState::kWon;
  } else if (charged_back) {
    dispute.state = chargeback_is_settled(fact) ? DisputeState::kLost : DisputeState::kOpen;
  } else if (knows(fact, "NOTIFICATION_OF_CHARGEBACK")) {
    dispute.state = DisputeState::kNotice;
  }
  return dispute;
}

void add_dispute(const Fact& fact, Folded& folded) {
  const auto dispute = read_dispute(fact);
  auto& state = folded.state;
  state.needs_review = state.needs_review || dispute.needs_review;
  if (dispute.state == DisputeState::kNone) return;
  state.milestones.emplace("disputed", fact.id);
  const bool is_open = dispute.state == DisputeState::kOpen ||
                       dispute.state == DisputeState::kNotice ||
                       dispute.state == DisputeState::kOpenWithoutMoney;
  folded.dispute_open = folded.dispute_open || is_open;
  if (dispute.state == DisputeState::kLost) {
    folded.dispute_lost = true;
    state.milestones.emplace("charged_back", fact.id);
  }
  const bool money_is_out =
      dispute.state == DisputeState::kOpen || dispute.state == DisputeState::kLost;
  if (money_is_out) state.disputed = add(state.disputed, dispute.amount);
}

// A dispute that named no payment but carries the payment's reference: the payment's only dispute,
// or one of its own if there is none; with several nobody can tell.
void add_disputes(const std::string& payment_id, const std::vector<Fact>& facts, Folded& folded) {
  std::vector<Fact> named;
  const Fact* unnamed = nullptr;
  for (const auto& fact : facts) {
    if (fact.kind != fact_kind::kDispute) continue;
    if (fact.id == payment_id) {
      unnamed = &fact;
    } else {
      named.push_back(fact);
    }
  }
  if (unnamed != nullptr) {
    if (named.empty()) named.push_back(*unnamed);
    if (named.size() == 1) {
      named.front().merge(*unnamed);
    } else {
      folded.state.needs_review = true;
    }
  }
  for (const auto& fact : named) add_dispute(fact, folded);
}

void add_refund(const Fact& fact, Folded& folded, bool& contradicts) {
  const bool failed = knows_any(fact, {"REFUND_FAILED", "REFUNDED_REVERSED"});
  if (failed) folded.state.milestones.emplace("refund_failed", fact.id);
  if (!knows_success(fact, "REFUND")) return;
  folded.state.milestones.emplace("refunded", fact.id);
  const auto amount = one_amount(fact, {"REFUND"});
  contradicts = contradicts || !amount;
  if (!failed) folded.state.refunded = add(folded.state.refunded, amount);
}

void add_captures(const std::vector<Fact>& facts, const FoldSettings& settings, Folded& folded) {
  auto& state = folded.state;
  if (settings.capture_immediate) state.captured = state.authorized;
  for (const auto& fact : facts) {
    if (fact.kind != fact_kind::kCapture) continue;
    const auto verdict = judge_capture(read_capture(fact));
    const auto amount = one_amount(fact, {"CAPTURE", "CAPTURE_FAILED"});
    state.needs_review =
        state.needs_review || verdict.needs_review || !amount || knows(fact, "SETTLED_REVERSED");
    if (knows(fact, "CAPTURE_FAILED")) state.milestones.emplace("capture_failed", fact.id);
    if (!settings.capture_immediate && verdict.counts) state.captured = add(state.captured, amount);
    if (settings.capture_immediate && verdict.failure_stands && state.captured && amount) {
      state.captured = std::max<std::int64_t>(0, *state.captured - *amount);
    }
  }
}

void add_authorization(const Fact& fact, Folded& folded) {
  const bool authorized = knows_success(fact, "AUTHORISATION");
  folded.is_authorized = authorized;
  folded.state.authorized = authorized_amount(fact);
  folded.is_failed = knows(fact, "AUTHORISATION") && !authorized;
  // An offer that was closed and yet authorized was authorized.
  folded.is_expired = knows(fact, "EXPIRE") || (knows(fact, "OFFER_CLOSED") && !authorized);
}

// The latest adjustment replaces the amount; of two in one second the greater.
void add_adjustments(const std::vector<Fact>& facts, Folded& folded) {
  std::optional<std::pair<std::int64_t, std::int64_t>> latest;
  for (const auto& fact : facts) {
    if (fact.kind != fact_kind::kAdjustment) continue;
    for (const auto& seen : fact.observations) {
      if (seen.status != "true") continue;
      const std::pair<std::int64_t, std::int64_t> candidate{seen.at.value_or(0),
                                                            seen.amount.value_or(0)};
      latest = std::max(latest.value_or(candidate), candidate);
    }
  }
  if (latest && folded.state.authorized) folded.state.authorized = latest->second;
}

// CANCEL_OR_REFUND is what the money says it must have been.
void add_cancel_or_refund(const Fact& fact, Folded& folded) {
  if (!knows_success(fact, "CANCEL_OR_REFUND")) return;
  auto& state = folded.state;
  if (state.captured.value_or(0) == 0) {
    folded.is_canceled = true;
    return;
  }
  const auto amount = one_amount(fact, {"CANCEL_OR_REFUND"});
  const auto taken = amount.value_or(0) == 0 ? state.captured : amount;
  state.refunded = add(state.refunded,
                       taken && state.captured ? Amount{std::min(*taken, *state.captured)} : taken);
  state.milestones.emplace("refunded", fact.id);
}

}  // namespace

Folded fold_adyen(const std::string& payment_id, const std::vector<Fact>& facts,
                  const FoldSettings& settings) {
  Folded folded;
  for (const auto& fact : facts) {
    if (fact.kind == fact_kind::kAuthorization) add_authorization(fact, folded);
  }
  add_adjustments(facts, folded);
  add_captures(facts, settings, folded);
  for (const auto& fact : facts) {
    if (fact.kind == fact_kind::kRefund) add_refund(fact, folded, folded.state.needs_review);
    if (fact.kind == fact_kind::kCancelOrRefund) add_cancel_or_refund(fact, folded);
    if (fact.kind == fact_kind::kCancellation) {
      folded.is_canceled = folded.is_canceled || knows_success(fact, "CANCELLATION") ||
                           knows_success(fact, "TECHNICAL_CANCEL");
    }
  }
  add_disputes(payment_id, facts, folded);
  return folded;
}

}  // namespace hookgate
