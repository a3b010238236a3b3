// A Stripe payment from its intent, charges, refunds and disputes. Policy: handlers/README.md.
#include <algorithm>

#include "handlers/payments/dispute.h"
#include "handlers/payments/payment_state.h"
#include "handlers/payments/stripe_release.h"

namespace hookgate {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

// What the events of the intent and of the charges say together.
struct Reading {
  StripeMoney money;
  bool is_authorized = false;
  bool is_canceled = false;
  bool is_expired = false;
  bool is_failed = false;
  bool is_released = false;  // a charge that was not captured is given back
};

void read_intent(const Observation& seen, Reading& reading) {
  const auto amount = seen.amount.value_or(0);
  const bool succeeded = seen.status == "succeeded" ||
                         (seen.status.empty() && seen.code == "payment_intent.succeeded");
  const bool capturable =
      seen.status == "requires_capture" ||
      (seen.status.empty() && seen.code == "payment_intent.amount_capturable_updated");
  auto& money = reading.money;
  if (succeeded || capturable) {
    reading.is_authorized = true;
    money.authorized = std::max(money.authorized, amount);
  }
  if (succeeded) money.captured = std::max(money.captured, seen.captured.value_or(amount));
  if (seen.status == "canceled" || seen.code == "payment_intent.canceled") {
    // The authorization lapsed; `automatic` is its name before API version 2025-03-31.
    const bool lapsed = is_one_of(seen.reason, {"expired", "automatic"});
    (lapsed ? reading.is_expired : reading.is_canceled) = true;
  }
  if (seen.code == "payment_intent.payment_failed") reading.is_failed = true;
}

void read_charge(const Observation& seen, Reading& reading) {
  if (!seen.code.starts_with("charge.")) return;  // an intent or invoice that only names it
  if (seen.status == "failed" || seen.code == "charge.failed") {
    reading.is_failed = true;
    return;
  }
  if (seen.status == "pending" || seen.code == "charge.pending") return;
  auto& money = reading.money;
  const auto captured = seen.captured.value_or(0);
  const auto refunded = seen.refunded.value_or(0);
  reading.is_authorized = true;
  money.authorized = std::max(money.authorized, seen.amount.value_or(0));
  money.captured = std::max(money.captured, captured);
  money.refunded_by_charge = std::max(money.refunded_by_charge, refunded);
  if (captured == 0 && refunded > 0) reading.is_released = true;
  if (seen.code == "charge.expired") reading.is_expired = true;
}

StripeRefund read_refund(const Fact& fact, bool& contradicts) {
  StripeRefund refund;
  refund.id = fact.id;
  std::set<std::int64_t> amounts;
  std::optional<std::int64_t> first_told;
  for (const auto& seen : fact.observations) {
    amounts.insert(seen.amount.value_or(0));
    if (is_one_of(seen.status, {"failed", "canceled"}) || seen.code == "refund.failed")
      refund.is_failed = true;
    if (is_one_of(seen.reason, {"duplicate", "fraudulent", "requested_by_customer"}))
      refund.has_users_reason = true;
    if (seen.reason == "expired_uncaptured_charge") refund.is_expired_uncaptured = true;
    if (seen.made_at)
      refund.made_at = std::min(refund.made_at.value_or(*seen.made_at), *seen.made_at);
    if (seen.at) first_told = std::min(first_told.value_or(*seen.at), *seen.at);
  }
  if (!refund.made_at) refund.made_at = first_told;
  if (!amounts.empty()) refund.amount = *amounts.rbegin();
  contradicts = contradicts || amounts.size() > 1;
  return refund;
}

void add_refunds(const std::vector<Fact>& facts, const Reading& reading, Folded& folded) {
  std::vector<StripeRefund> refunds;
  for (const auto& fact : facts) {
    if (fact.kind == fact_kind::kRefund) refunds.push_back(read_refund(fact, folded.needs_review));
  }
  const auto judged = judge_refunds(facts, reading.money, refunds);
  folded.refunded = judged.refunded;
  for (const auto& refund : refunds) {
    // The object of a released rest is no refund that anybody should hear of; nor can there be one
    // before money was taken.
    const bool is_refund = reading.money.captured > 0 && refund.id != judged.release;
    if (refund.is_failed) {
      folded.milestones.emplace("refund_failed", refund.id);
    } else if (is_refund) {
      folded.milestones.emplace("refunded", refund.id);
    }
  }
}

}  // namespace

Folded fold_stripe(const std::vector<Fact>& facts) {
  Folded folded;
  Reading reading;
  for (const auto& fact : facts) {
    for (const auto& seen : fact.observations) {
      if (fact.kind == fact_kind::kIntent) read_intent(seen, reading);
      if (fact.kind == fact_kind::kCharge) read_charge(seen, reading);
    }
    if (fact.kind == fact_kind::kDispute) add_dispute(fact, judge_stripe_dispute(fact), folded);
  }
  auto& money = reading.money;
  const bool is_given_back = money.captured == 0 && reading.is_released;
  folded.is_authorized = reading.is_authorized;
  folded.is_canceled = reading.is_canceled || is_given_back;
  folded.is_expired = reading.is_expired;
  folded.is_failed = reading.is_failed;
  money.is_over = folded.is_canceled || folded.is_expired;
  folded.authorized = Figure::of(money.authorized);
  folded.captured = Figure::of(money.captured);
  add_refunds(facts, reading, folded);
  return folded;
}

}  // namespace hookgate
