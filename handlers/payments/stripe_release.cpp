#include "handlers/payments/stripe_release.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace hookgate {
namespace {

constexpr std::int64_t kReleaseMicroseconds = 5'000'000;    // from a capture to its release
constexpr std::string_view kReleaseVersion = "2025-03-31";  // from here on a release is no refund

// Signs of whether the rest is counted as refunded.
struct Evidence {
  bool amounts_counted = false;
  bool amounts_not_counted = false;
  bool timing_counted = false;
  bool all_versions_old = true;
  bool all_versions_new = true;
};

class ReleaseJudge {
 public:
  ReleaseJudge(const std::vector<Fact>& facts, const StripeMoney& money,
               const std::vector<StripeRefund>& refunds)
      : facts_(facts),
        money_(money),
        refunds_(refunds),
        rest_(std::max<std::int64_t>(0, money.authorized - money.captured)) {
    for (const auto& refund : refunds_) {
      if (refund.is_failed) {
        any_failed_ = true;
      } else {
        objects_ += Figure::of(refund.amount);
      }
    }
    collect_capture_times();
  }

  StripeRefunded judge() const {
    if (money_.captured == 0 && money_.is_over) return {};
    if (!objects_.is_decided()) return {objects_, ""};
    const auto total = objects_.at_least;
    const auto plain = any_failed_ ? total : std::max(total, money_.refunded_by_charge);
    if (rest_ == 0) return {Figure::of(plain), ""};
    const auto release = release_object();
    const auto by_objects = total - (release.empty() ? 0 : rest_);
    const auto by_total = money_.refunded_by_charge - rest_;
    const auto counted =
        std::max<std::int64_t>(0, any_failed_ ? by_objects : std::max(by_objects, by_total));
    const auto is_counted = verdict(weigh());
    if (!is_counted) return {Figure::among({counted, plain}), ""};
    if (*is_counted) return {Figure::of(counted), release};
    return {Figure::of(plain), ""};
  }

 private:
  void collect_capture_times() {
    for (const auto& fact : facts_) {
      if (fact.kind != fact_kind::kIntent && fact.kind != fact_kind::kCharge) continue;
      for (const auto& seen : fact.observations) {
        const bool is_capture =
            seen.code == "charge.captured" || seen.code == "payment_intent.succeeded";
        if (is_capture && seen.at) capture_times_.insert(*seen.at);
      }
    }
  }

  bool is_near_capture(const std::optional<std::int64_t>& at) const {
    return at && std::ranges::any_of(capture_times_, [&](std::int64_t capture) {
             return std::max(capture, *at) - std::min(capture, *at) <= kReleaseMicroseconds;
           });
  }

  bool may_be_release(const StripeRefund& refund) const {
    return !refund.is_failed && refund.amount == rest_ &&
           (!refund.has_users_reason || refund.is_expired_uncaptured);
  }

  // If the rest is counted: the object that is it, where one is among the refunds. One made at
  // another time than the capture is it only by Stripe's word, or if no time of a capture is known,
  // or if there must be one because the objects sum up to more than was captured.
  std::string release_object() const {
    const bool must_be = capture_times_.empty() || objects_.at_least > money_.captured;
    std::optional<std::tuple<bool, std::int64_t, std::string>> best;
    for (const auto& refund : refunds_) {
      const bool is_near = is_near_capture(refund.made_at);
      if (!may_be_release(refund) || !(is_near || refund.is_expired_uncaptured || must_be))
        continue;
      const std::tuple candidate{
          !is_near, refund.made_at.value_or(std::numeric_limits<std::int64_t>::max()), refund.id};
      best = std::min(best.value_or(candidate), candidate);
    }
    return best ? std::get<2>(*best) : "";
  }

  void weigh_snapshot(const Observation& seen, Evidence& evidence) const {
    if (!seen.captured || !seen.refunded) return;
    if (*seen.captured == money_.captured) {
      if (*seen.refunded < rest_) evidence.amounts_not_counted = true;
      if (seen.code == "charge.captured" && *seen.refunded == rest_)
        evidence.amounts_counted = true;
    }
    if (seen.code == "charge.refunded" && *seen.refunded == rest_ && is_near_capture(seen.at))
      evidence.timing_counted = true;
  }

  static void weigh_version(const Observation& seen, Evidence& evidence) {
    const std::string_view version = seen.version;
    const bool is_known = version.size() >= kReleaseVersion.size();
    const bool is_new = is_known && version.substr(0, kReleaseVersion.size()) >= kReleaseVersion;
    evidence.all_versions_new = evidence.all_versions_new && is_new;
    evidence.all_versions_old = evidence.all_versions_old && is_known && !is_new;
  }

  Evidence weigh() const {
    Evidence evidence;
    evidence.amounts_counted =
        money_.refunded_by_charge > money_.captured || objects_.at_least > money_.captured;
    for (const auto& fact : facts_) {
      if (fact.kind == fact_kind::kContradiction) continue;
      for (const auto& seen : fact.observations) {
        if (fact.kind == fact_kind::kCharge) weigh_snapshot(seen, evidence);
        weigh_version(seen, evidence);
      }
    }
    for (const auto& refund : refunds_) {
      if (may_be_release(refund) && is_near_capture(refund.made_at)) evidence.timing_counted = true;
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

  const std::vector<Fact>& facts_;
  const StripeMoney& money_;
  const std::vector<StripeRefund>& refunds_;
  std::int64_t rest_;  // U: authorized and not captured
  bool any_failed_ = false;
  Figure objects_;  // S: sum of the refund objects that stand
  std::set<std::int64_t> capture_times_;
};

}  // namespace

StripeRefunded judge_refunds(const std::vector<Fact>& facts, const StripeMoney& money,
                             const std::vector<StripeRefund>& refunds) {
  return ReleaseJudge{facts, money, refunds}.judge();
}

}  // namespace hookgate
