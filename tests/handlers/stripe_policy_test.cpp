#include <gtest/gtest.h>

#include "history_support.h"

namespace hookgate {
namespace {

// The corners of the ledger's policy for Stripe: one history a rule.
class StripePolicyTest : public ::testing::TestWithParam<History> {};

TEST_P(StripePolicyTest, HoldsInEveryOrder) {
  expect_its_end_in_every_order(GetParam());
}

const auto kNameOf = [](const auto& history) { return history.param.name; };
const std::string kOld = "2024-04-10";
const std::string kNew = "2025-09-30.clover";
const std::string kLinks = R"(,"payment_intent":"pi_x","charge":"ch_x")";

History of(std::string name, std::vector<std::string> events, std::string end) {
  return {std::move(name), "stripe", std::move(events), std::move(end)};
}
// 1000 authorized, 700 of it captured at second 60: 300 are released.
History released(std::string name, std::vector<std::string> events, std::string end,
                 const std::string& version = kOld) {
  events.push_back(intent("amount_capturable_updated", 1000, 0, "", version));
  events.push_back(intent("succeeded", 1000, 60, number("amount_received", 700), version));
  return of(std::move(name), std::move(events), std::move(end));
}
std::string made_at(int second) {
  return number("created", 1'800'000'000 + second);
}
std::string lost_dispute(const std::string& id, long long amount) {
  return stripe(
      "charge.dispute.closed",
      "\"id\":\"" + id + R"(","status":"lost","payment_intent":"pi_x")" + number("amount", amount),
      9);
}
History disputed(std::string name, std::vector<std::string> events, std::string end) {
  events.push_back(charge("succeeded", 600, 600, 0, 0));
  return of(std::move(name), std::move(events), std::move(end));
}

INSTANTIATE_TEST_SUITE_P(
    Release, StripePolicyTest,
    ::testing::Values(
        released("OldVersionsCountIt", {charge("refunded", 1000, 700, 300, 9000)},
                 "pi_x partially_captured 1000/700/0/0"),
        released("NewVersionsDoNotCountIt", {charge("refunded", 1000, 700, 300, 9000, kNew)},
                 "pi_x partially_refunded 1000/700/300/0", kNew),
        released("MixedVersionsDecideNothing", {charge("refunded", 1000, 700, 300, 9000, kNew)},
                 "pi_x partially_captured 1000/700/?/0 needs_review"),
        released("AnEventWithoutAVersionDecidesNothing",
                 {charge("refunded", 1000, 700, 300, 9000, "")},
                 "pi_x partially_captured 1000/700/?/0 needs_review"),
        released("TimingAgainstTheVersionDecidesNothing",
                 {charge("refunded", 1000, 700, 300, 62, kNew)},
                 "pi_x partially_captured 1000/700/?/0 needs_review", kNew),
        released("TimingDecidesWhereTheVersionIsUnknown",
                 {charge("refunded", 1000, 700, 300, 65, "")},
                 "pi_x partially_captured 1000/700/0/0"),
        released("SixSecondsAreNotTheSameMoment", {charge("refunded", 1000, 700, 300, 66, "")},
                 "pi_x partially_captured 1000/700/?/0 needs_review"),
        released("TheCaptureSnapshotBeatsTheVersion",
                 {charge("captured", 1000, 700, 300, 60, kNew),
                  charge("refunded", 1000, 700, 450, 9000, kNew)},
                 "pi_x partially_refunded 1000/700/150/0", kNew),
        released("ASmallerTotalBeatsTheVersion",
                 {charge("captured", 1000, 700, 0, 60), charge("refunded", 1000, 700, 300, 9000)},
                 "pi_x partially_refunded 1000/700/300/0"),
        released("AmountsThatContradictEachOther",
                 {charge("captured", 1000, 700, 300, 60), charge("updated", 1000, 700, 0, 61)},
                 "pi_x partially_captured 1000/700/?/0 needs_review"),
        released("ATotalOverTheCapturedCountsIt", {charge("refunded", 1000, 700, 1000, 9000, kNew)},
                 "pi_x refunded 1000/700/700/0", kNew),
        released("ObjectsOverTheCapturedHoldTheReleaseWheneverItWasMade",
                 {refund("refund.created", "re_0", 300, "succeeded", 200),
                  refund("refund.created", "re_1", 700, "succeeded", 9000,
                         kLinks + R"(,"reason":"requested_by_customer")")},
                 "pi_x refunded 1000/700/700/0"),
        released("AUsersReasonIsARealRefund",
                 {refund("refund.created", "re_1", 300, "succeeded", 60,
                         kLinks + R"(,"reason":"requested_by_customer")", "")},
                 "pi_x partially_refunded 1000/700/300/0"),
        released("StripesReasonWithinTheMomentIsARelease",
                 {refund("refund.created", "re_0", 300, "succeeded", 64,
                         kLinks + R"(,"reason":"expired_uncaptured_charge")", "")},
                 "pi_x partially_captured 1000/700/0/0"),
        released("StripesReasonAloneDecidesNothing",
                 {refund("refund.created", "re_0", 300, "succeeded", 9000,
                         kLinks + R"(,"reason":"expired_uncaptured_charge")", "")},
                 "pi_x partially_captured 1000/700/?/0 needs_review"),
        released("TheRefundsOwnTimeCountsNotTheEvents",
                 {refund("charge.refund.updated", "re_0", 300, "succeeded", 9000,
                         kLinks + made_at(61), "")},
                 "pi_x partially_captured 1000/700/0/0"),
        released("AfterAFailedRefundOnlyTheObjectsCount",
                 {charge("captured", 1000, 700, 300, 60),
                  refund("refund.created", "re_0", 300, "succeeded", 60),
                  refund("refund.failed", "re_1", 90, "failed", 5000),
                  charge("refunded", 1000, 700, 390, 4000)},
                 "pi_x partially_captured 1000/700/0/0"),
        released("ReadingsThatAgreeNeedNoEvidence",
                 {refund("refund.created", "re_1", 120, "succeeded", 9000, kLinks, "")},
                 "pi_x partially_refunded 1000/700/120/0"),
        of("ARefundThatWasCanceledCountsNothing",
           {intent("succeeded", 900, 0, number("amount_received", 900)),
            refund("refund.created", "re_1", 400, "requires_action", 5),
            refund("refund.updated", "re_1", 400, "canceled", 9)},
           "pi_x captured 900/900/0/0"),
        of("AnAuthorizationRaisedTwiceIsTheHighest",
           {intent("amount_capturable_updated", 500, 0),
            intent("amount_capturable_updated", 800, 10),
            intent("amount_capturable_updated", 650, 5)},
           "pi_x authorized 800/0/0/0"),
        of("AnAuthorizationThatExpiredBeforeTheChange",
           {intent("amount_capturable_updated", 500, 0),
            intent("canceled", 500, 900,
                   R"(,"status":"canceled","cancellation_reason":"automatic")")},
           "pi_x expired 500/0/0/0")),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    Links, StripePolicyTest,
    ::testing::Values(
        of("AnIntentNamesItsCharge",
           {refund("refund.created", "re_1", 400, "succeeded", 9, R"(,"charge":"ch_x")"),
            intent("succeeded", 900, 0,
                   number("amount_received", 900) + R"(,"latest_charge":"ch_x")")},
           "pi_x partially_refunded 900/900/400/0"),
        of("AnOldIntentHoldsItsCharges",
           {dispute("created", 900, "needs_response", 9, R"(,"charge":"ch_x")"),
            intent("succeeded", 900, 0,
                   number("amount_received", 900) + R"(,"charges":{"data":[{"id":"ch_x"}]})")},
           "pi_x disputed 900/900/0/900"),
        of("AnInvoiceIsALinkAndNoCapture",
           {refund("refund.created", "re_1", 400, "succeeded", 9, R"(,"charge":"ch_x")"),
            stripe("invoice.paid",
                   R"("id":"in_1","payment_intent":"pi_x","charge":"ch_x","amount_paid":900)", 3),
            intent("succeeded", 900, 0, number("amount_received", 900))},
           "pi_x partially_refunded 900/900/400/0"),
        of("ARefundLinksTheOthersOfItsCharge",
           {refund("refund.created", "re_1", 400, "succeeded", 9, R"(,"charge":"ch_x")"),
            dispute("created", 100, "needs_response", 9, R"(,"charge":"ch_x")"),
            refund("refund.created", "re_2", 300, "succeeded", 9),
            intent("succeeded", 900, 0, number("amount_received", 900))},
           "pi_x disputed 900/900/700/100"),
        of("ARefundOfAnUnknownChargeMakesNoPayment",
           {refund("refund.created", "re_1", 400, "succeeded", 9, R"(,"charge":"ch_x")")}, ""),
        of("AFailedChargeNamedByTheIntentIsNoAuthorization",
           {intent("payment_failed", 900, 0,
                   R"(,"status":"requires_payment_method","latest_charge":"ch_0")")},
           "pi_x failed 0/0/0/0"),
        of("NegativeAmountsAreNoPayment",
           {intent("succeeded", -5, 0), charge("succeeded", 5, -5, 0, 0),
            refund("refund.created", "re_1", -9223372036854775807 - 1, "succeeded", 1),
            dispute("created", -5, "needs_response", 1)},
           "")),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    Dispute, StripePolicyTest,
    ::testing::Values(
        disputed("AnInquiryMayBecomeADispute",
                 {dispute("created", 600, "warning_needs_response", 5),
                  dispute("updated", 600, "needs_response", 20)},
                 "pi_x disputed 600/600/0/600"),
        disputed("AnInquiryMayBecomeADisputeAfterItWasClosed",
                 {dispute("closed", 600, "warning_closed", 10),
                  dispute("updated", 600, "needs_response", 20)},
                 "pi_x disputed 600/600/0/600"),
        disputed("AnOpenInquiryHoldsNoMoney", {dispute("created", 600, "warning_under_review", 5)},
                 "pi_x disputed 600/600/0/0"),
        disputed("TwoClosesInOneSecondWithTheFundsBack",
                 {dispute("closed", 600, "lost", 90), dispute("closed", 600, "won", 90),
                  dispute("funds_reinstated", 600, "won", 90)},
                 "pi_x captured 600/600/0/0"),
        disputed("ALostOneUnderAppealIsOpen",
                 {dispute("closed", 600, "lost", 90),
                  dispute("updated", 600, "appeal_under_review", 95)},
                 "pi_x disputed 600/600/0/600"),
        disputed("PreventedWithTheFundsGone",
                 {dispute("closed", 600, "prevented", 90),
                  dispute("funds_withdrawn", 600, "prevented", 80)},
                 "pi_x charged_back 600/600/0/600"),
        disputed("PreventedWithTheFundsBack",
                 {dispute("closed", 600, "prevented", 90),
                  dispute("funds_withdrawn", 600, "prevented", 80),
                  dispute("funds_reinstated", 600, "prevented", 95)},
                 "pi_x captured 600/600/0/0"),
        disputed("SumsThatDoNotFitAreNone",
                 {lost_dispute("du_1", 9223372036854775807), lost_dispute("du_2", 1)},
                 "pi_x charged_back 600/600/0/? needs_review over_returned")),
    kNameOf);

}  // namespace
}  // namespace hookgate
