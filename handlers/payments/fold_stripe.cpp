// A Stripe payment from its intent, charges, refunds and disputes. Policy: handlers/README.md.
#include <algorithm>
#include <map>

#include "handlers/payments/payment_state.h"

namespace hookgate {
namespace {

constexpr std::int64_t kReleaseSeconds = 5;  // between a capture and the release of its rest
constexpr std::string_view kReleaseVersion = "2025-03-31";  // from here on a release is no refund

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

struct Money {
  std::int64_t authorized = 0;          // A: highest amount authorized
  std::int64_t captured = 0;            // C: highest amount captured
  std::int64_t refunded_by_charge = 0;  // F: highest running total of a charge snapshot
  bool is_authorized = false;
  bool is_canceled = false;
  bool is_expired = false;
  bool is_failed = false;
  bool is_released = false;  // a charge that was never captured is given back
};

void read_intent(const Observation& seen, Money& money) {
  const auto amount = seen.amount.value_or(0);
  const bool succeeded = seen.status == "succeeded" ||
                         (seen.status.empty() && seen.code == "payment_intent.succeeded");
  const bool capturable =
      seen.status == "requires_capture" ||
      (seen.status.empty() && seen.code == "payment_intent.amount_capturable_updated");
  if (succeeded || capturable) {
    money.is_authorized = true;
    money.authorized = std::max(money.authorized, amount);
  }
  if (succeeded) money.captured = std::max(money.captured, seen.captured.value_or(amount));
  if (seen.status == "canceled" || seen.code == "payment_intent.canceled") {
    const bool lapsed = seen.reason == "expired" || seen.reason == "automatic";
    (lapsed ? money.is_expired : money.is_canceled) = true;
  }
  if (seen.code == "payment_intent.payment_failed") money.is_failed = true;
}

void read_charge(const Observation& seen, Money& money) {
  if (seen.status == "failed" || seen.code == "charge.failed") {
    money.is_failed = true;
    return;
  }
  if (seen.status == "pending" || seen.code == "charge.pending") return;
  money.is_authorized = true;
  money.authorized = std::max(money.authorized, seen.amount.value_or(0));
  money.captured = std::max(money.captured, seen.captured.value_or(0));
  money.refunded_by_charge = std::max(money.refunded_by_charge, seen.refunded.value_or(0));
  if (seen.captured.value_or(0) == 0 && seen.refunded.value_or(0) > 0) money.is_released = true;
  if (seen.code == "charge.expired") money.is_expired = true;
}

struct Refund {
  std::string id;
  std::int64_t amount = 0;
  bool is_failed = false;
  bool has_users_reason = false;
  bool is_expired_uncaptured = false;
  std::optional<std::int64_t> created;
};

Refund read_refund(const Fact& fact, bool& contradicts) {
  Refund refund;
  refund.id = fact.id;
  std::set<std::int64_t> amounts;
  for (const auto& seen : fact.observations) {
    amounts.insert(seen.amount.value_or(0));
    if (is_one_of(seen.status, {"failed", "canceled"}) || seen.code == "refund.failed")
      refund.is_failed = true;
    if (is_one_of(seen.reason, {"duplicate", "fraudulent", "requested_by_customer"}))
      refund.has_users_reason = true;
    if (seen.reason == "expired_uncaptured_charge") refund.is_expired_uncaptured = true;
    if (seen.at) refund.created = std::min(refund.created.value_or(*seen.at), *seen.at);
  }
  refund.amount = *amounts.rbegin();
  contradicts = contradicts || amounts.size() > 1;
  return refund;
}

// Everything the decision about a released rest looks at.
struct Evidence {
  bool amounts_counted = false;
  bool amounts_not_counted = false;
  bool timing_counted = false;
  bool all_versions_old = true;
  bool all_versions_new = true;
  bool release_object_known = false;
};

class ReleaseJudge {
 public:
  ReleaseJudge(const std::vector<Fact>& facts, const Money& money,
               const std::vector<Refund>& refunds)
      : facts_(facts),
        money_(money),
        refunds_(refunds),
        rest_(std::max<std::int64_t>(0, money.authorized - money.captured)) {
    for (const auto& refund : refunds_) {
      if (refund.is_failed) {
        any_failed_ = true;
      } else {
        objects_ = add(objects_, refund.amount);
      }
    }
    collect_capture_times();
  }

  // What was refunded; `at_least` is the lower reading when it is not decided.
  Amount decide(std::int64_t& at_least) const {
    const bool is_over = money_.is_released || money_.is_canceled || money_.is_expired;
    if (money_.captured == 0 && is_over) return 0;
    if (!objects_) return std::nullopt;
    const auto plain = any_failed_ ? *objects_ : std::max(*objects_, money_.refunded_by_charge);
    at_least = plain;
    if (rest_ == 0) return plain;
    const auto evidence = weigh();
    const auto counted = reading_if_counted(evidence.release_object_known);
    at_least = std::min(plain, counted);
    const auto is_counted = verdict(evidence);
    if (!is_counted) return counted == plain ? Amount{plain} : std::nullopt;
    at_least = *is_counted ? counted : plain;
    return at_least;
  }

 private:
  void collect_capture_times() {
    for (const auto& fact : facts_) {
      for (const auto& seen : fact.observations) {
        const bool is_capture =
            seen.code == "charge.captured" || seen.code == "payment_intent.succeeded";
        if (is_capture && seen.at) capture_times_.insert(*seen.at);
      }
    }
  }

  bool is_near_capture(const std::optional<std::int64_t>& at) const {
    return at && std::ranges::any_of(capture_times_, [&](std::int64_t capture) {
             return std::max(capture, *at) - std::min(capture, *at) <= kReleaseSeconds;
           });
  }

  bool may_be_release(const Refund& refund) const {
    return !refund.is_failed && refund.amount == rest_ &&
           (!refund.has_users_reason || refund.is_expired_uncaptured);
  }

  void weigh_snapshot(const Observation& seen, Evidence& evidence) const {
    if (seen.captured.value_or(0) == money_.captured && seen.refunded) {
      if (*seen.refunded < rest_) evidence.amounts_not_counted = true;
      if (seen.code == "charge.captured" && *seen.refunded == rest_)
        evidence.amounts_counted = true;
    }
    if (seen.code == "charge.refunded" && seen.refunded.value_or(0) == rest_ &&
        is_near_capture(seen.at)) {
      evidence.timing_counted = true;
    }
  }

  Evidence weigh() const {
    Evidence evidence;
    evidence.amounts_counted =
        money_.refunded_by_charge > money_.captured || *objects_ > money_.captured;
    for (const auto& fact : facts_) {
      for (const auto& seen : fact.observations) {
        if (fact.kind == fact_kind::kCharge) weigh_snapshot(seen, evidence);
        const bool is_known = seen.version.size() >= kReleaseVersion.size();
        const bool is_new = is_known && std::string_view{seen.version}.substr(
                                            0, kReleaseVersion.size()) >= kReleaseVersion;
        evidence.all_versions_new = evidence.all_versions_new && is_new;
        evidence.all_versions_old = evidence.all_versions_old && is_known && !is_new;
      }
    }
    for (const auto& refund : refunds_) {
      if (!may_be_release(refund)) continue;
      if (is_near_capture(refund.created)) {
        evidence.timing_counted = true;
        evidence.release_object_known = true;
      }
      if (refund.is_expired_uncaptured || capture_times_.empty())
        evidence.release_object_known = true;
    }
    return evidence;
  }

  static std::optional<bool> verdict(const Evidence& evidence) {
    if (evidence.amounts_counted && evidence.amounts_not_counted) return std::nullopt;
    if (evidence.amounts_counted) return true;
    if (evidence.amounts_not_counted) return false;
    if (evidence.timing_counted)
      return evidence.all_versions_new ? std::nullopt : std::optional{true};
    if (evidence.all_versions_old) return true;
    if (evidence.all_versions_new) return false;
    return std::nullopt;
  }

  std::int64_t reading_if_counted(bool release_object_known) const {
    const auto by_objects = *objects_ - (release_object_known ? rest_ : 0);
    const auto by_total = money_.refunded_by_charge - rest_;
    return std::max<std::int64_t>(0, any_failed_ ? by_objects : std::max(by_objects, by_total));
  }

  const std::vector<Fact>& facts_;
  const Money& money_;
  const std::vector<Refund>& refunds_;
  std::int64_t rest_;  // U: authorized and not captured
  bool any_failed_ = false;
  Amount objects_ = 0;  // S: sum of the refund objects that stand
  std::set<std::int64_t> capture_times_;
};

enum class DisputeState { kNone, kInquiry, kOpen, kLost, kWon };

struct Dispute {
  DisputeState state = DisputeState::kNone;
  std::int64_t amount = 0;
  bool needs_review = false;
};

bool knows(const Fact& fact, std::string_view code) {
  return std::ranges::any_of(fact.observations,
                             [&](const Observation& seen) { return seen.code == code; });
}

DisputeState ended_state(const std::string& status, const Fact& fact) {
  if (status == "lost") return DisputeState::kLost;
  if (status == "prevented") {
    const bool money_is_gone = knows(fact, "charge.dispute.funds_withdrawn") &&
                               !knows(fact, "charge.dispute.funds_reinstated");
    return money_is_gone ? DisputeState::kLost : DisputeState::kWon;
  }
  return DisputeState::kWon;  // won, warning_closed
}

// The last closing decides; what has no closing is open.
Dispute read_dispute(const Fact& fact) {
  Dispute dispute;
  std::map<std::int64_t, std::set<std::string>> closings;  // status by time
  std::set<std::string> ended;
  std::optional<std::int64_t> appealed_at;
  bool is_full = false;
  for (const auto& seen : fact.observations) {
    dispute.amount = std::max(dispute.amount, seen.amount.value_or(0));
    const bool is_end = is_one_of(seen.status, {"won", "lost", "prevented", "warning_closed"});
    if (is_end && seen.code == "charge.dispute.closed")
      closings[seen.at.value_or(0)].insert(seen.status);
    if (is_end) ended.insert(seen.status);
    if (seen.status.starts_with("appeal_"))
      appealed_at = std::max(appealed_at.value_or(0), seen.at.value_or(0));
    is_full = is_full || is_one_of(seen.status, {"needs_response", "under_review"});
  }
  if (appealed_at && (closings.empty() || *appealed_at > closings.rbegin()->first)) {
    dispute.state = DisputeState::kOpen;
    return dispute;
  }
  const auto& last = closings.empty() ? ended : closings.rbegin()->second;
  if (last.empty()) {
    dispute.state = is_full ? DisputeState::kOpen : DisputeState::kInquiry;
  } else if (last.size() == 1) {
    dispute.state = ended_state(*last.begin(), fact);
  } else {
    const bool is_won = knows(fact, "charge.dispute.funds_reinstated");
    dispute.state = is_won ? DisputeState::kWon : DisputeState::kLost;
    dispute.needs_review = !is_won;
  }
  return dispute;
}

void add_dispute(const Fact& fact, Folded& folded) {
  const auto dispute = read_dispute(fact);
  auto& state = folded.state;
  state.needs_review = state.needs_review || dispute.needs_review;
  state.milestones.emplace("disputed", fact.id);
  if (dispute.state == DisputeState::kOpen || dispute.state == DisputeState::kInquiry)
    folded.dispute_open = true;
  if (dispute.state == DisputeState::kLost) {
    folded.dispute_lost = true;
    state.milestones.emplace("charged_back", fact.id);
  }
  const bool money_is_out =
      dispute.state == DisputeState::kOpen || dispute.state == DisputeState::kLost;
  if (money_is_out) state.disputed = add(state.disputed, dispute.amount);
}

}  // namespace

Folded fold_stripe(const std::vector<Fact>& facts) {
  Folded folded;
  Money money;
  std::vector<Refund> refunds;
  for (const auto& fact : facts) {
    for (const auto& seen : fact.observations) {
      if (fact.kind == fact_kind::kIntent) read_intent(seen, money);
      if (fact.kind == fact_kind::kCharge) read_charge(seen, money);
    }
    if (fact.kind == fact_kind::kRefund)
      refunds.push_back(read_refund(fact, folded.state.needs_review));
    if (fact.kind == fact_kind::kDispute) add_dispute(fact, folded);
  }
  folded.is_authorized = money.is_authorized;
  folded.is_canceled = money.is_canceled || (money.captured == 0 && money.is_released);
  folded.is_expired = money.is_expired;
  folded.is_failed = money.is_failed;
  folded.state.authorized = money.authorized;
  folded.state.captured = money.captured;
  folded.state.refunded = ReleaseJudge{facts, money, refunds}.decide(folded.refunded_at_least);
  for (const auto& refund : refunds) {
    folded.state.milestones.emplace(refund.is_failed ? "refund_failed" : "refunded", refund.id);
  }
  return folded;
}

}  // namespace hookgate
