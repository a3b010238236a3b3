#include <gtest/gtest.h>

#include "history_support.h"

namespace hookgate {
namespace {

// The corners of the ledger's policy for Adyen: one history a rule.
class AdyenPolicyTest : public ::testing::TestWithParam<History> {};

TEST_P(AdyenPolicyTest, HoldsInEveryOrder) {
  expect_its_end_in_every_order(GetParam());
}

const auto kNameOf = [](const auto& history) { return history.param.name; };

History manual(std::string name, std::vector<std::string> events, std::string end) {
  return {std::move(name), "adyen", std::move(events), std::move(end)};
}
History immediate(std::string name, std::vector<std::string> events, std::string end) {
  return {std::move(name), "adyen", std::move(events), std::move(end), true};
}
// A payment of 900 with a capture of 900, and these events.
History captured(std::string name, std::vector<std::string> events, std::string end) {
  events.push_back(adyen("AUTHORISATION", true, "P", "", 900, 1));
  events.push_back(adyen("CAPTURE", true, "C", "P", 900, 2));
  return manual(std::move(name), std::move(events), std::move(end));
}
// A payment of 900 that an immediate account captured, with one dispute D that has these stages.
History disputed(std::string name, const std::vector<std::string>& stages, std::string end) {
  std::vector<std::string> events{adyen("AUTHORISATION", true, "P", "", 900, 1)};
  int day = 3;
  for (const auto& stage : stages) events.push_back(adyen(stage, true, "D", "P", 900, day++));
  return immediate(std::move(name), std::move(events), std::move(end));
}
std::string at(const std::string& code, const std::string& date, const std::string& more = "") {
  return adyen(code, true, "C", "P", 900, 0, more, date);
}

INSTANTIATE_TEST_SUITE_P(
    Recapture, AdyenPolicyTest,
    ::testing::Values(
        captured("IsOrderedByInstantsFinerThanASecond",
                 {at("CAPTURE_FAILED", "2027-01-05T09:00:00.200Z"),
                  at("CAPTURE", "2027-01-05T09:00:00.500Z", kRecaptured)},
                 "P captured 900/900/0/0"),
        captured("InTheSameInstantAsTheFailureIsNotAfterIt",
                 {at("CAPTURE_FAILED", "2027-01-05T09:00:00Z"),
                  at("CAPTURE", "2027-01-05T10:00:00+01:00", kRecaptured)},
                 "P authorized 900/0/0/0 needs_review"),
        captured("BeforeTheFailureNeedsReview",
                 {at("CAPTURE_FAILED", "2027-01-09T09:00:00Z"),
                  at("CAPTURE", "2027-01-05T09:00:00Z", kRecaptured)},
                 "P authorized 900/0/0/0 needs_review"),
        manual("DoesNotNeedTheDateOfThePlainCapture",
               {adyen("AUTHORISATION", true, "P", "", 900, 1), at("CAPTURE", "soon"),
                at("CAPTURE_FAILED", "2027-01-05T09:00:00Z"),
                at("CAPTURE", "2027-01-09T09:00:00Z", kRecaptured)},
               "P captured 900/900/0/0"),
        captured("OneWithoutADateDoesNotSpoilAnother",
                 {at("CAPTURE_FAILED", "2027-01-05T09:00:00Z"), at("CAPTURE", "later", kRecaptured),
                  at("CAPTURE", "2027-01-09T09:00:00Z", kRecaptured)},
                 "P captured 900/900/0/0"),
        captured("WithoutADateNeedsReview",
                 {at("CAPTURE_FAILED", "2027-01-05T09:00:00Z"),
                  at("CAPTURE", "later", kRecaptured)},
                 "P authorized 900/0/0/0 needs_review"),
        captured("CannotBeAfterAFailureWithoutADate",
                 {at("CAPTURE_FAILED", "once"), at("CAPTURE", "2027-01-09T09:00:00Z", kRecaptured)},
                 "P authorized 900/0/0/0 needs_review"),
        captured("AlsoByItself",
                 {at("CAPTURE_FAILED", "2027-01-05T09:00:00Z"),
                  at("CAPTURE", "2027-01-09T09:00:00Z",
                     R"(,"reason":"Transaction Auto-recaptured")")},
                 "P captured 900/900/0/0"),
        captured("WithAnotherTextIsNone",
                 {at("CAPTURE_FAILED", "2027-01-05T09:00:00Z"),
                  at("CAPTURE", "2027-01-01T09:00:00Z", R"(,"reason":"Transaction Recaptured?")")},
                 "P authorized 900/0/0/0"),
        manual("OfACaptureNeverSeenBefore",
               {adyen("AUTHORISATION", true, "P", "", 900, 1),
                at("CAPTURE", "2027-01-09T09:00:00Z", kRecaptured)},
               "P captured 900/900/0/0"),
        manual("AFailureAloneNeedsNoDate",
               {adyen("AUTHORISATION", true, "P", "", 900, 1), at("CAPTURE_FAILED", "once")},
               "P authorized 900/0/0/0")),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    SignedAmounts, AdyenPolicyTest,
    ::testing::Values(
        manual("TwoOfOneCaptureAreNone",
               {adyen("AUTHORISATION", true, "P", "", 900, 1),
                adyen("CAPTURE", true, "C", "P", 900, 2), adyen("CAPTURE", true, "C", "P", 600, 2)},
               "P partially_captured 900/?/0/0 needs_review"),
        manual("OfACaptureAndItsFailureMustAgree",
               {adyen("AUTHORISATION", true, "P", "", 900, 1),
                adyen("CAPTURE", true, "C", "P", 900, 2),
                adyen("CAPTURE_FAILED", true, "C", "P", 800, 3)},
               "P authorized 900/0/0/0 needs_review"),
        immediate("TwoOfTheAuthorizationAreNoneOfTheCapture",
                  {adyen("AUTHORISATION", true, "P", "", 900, 1),
                   adyen("AUTHORISATION", true, "P", "", 950, 1)},
                  "P captured ?/?/0/0 needs_review"),
        immediate("TwoOfASmallFailureStillLeaveAPartCaptured",
                  {adyen("AUTHORISATION", true, "P", "", 900, 1),
                   adyen("CAPTURE_FAILED", true, "C", "P", 100, 2),
                   adyen("CAPTURE_FAILED", true, "C", "P", 200, 3)},
                  "P partially_captured 900/?/0/0 needs_review"),
        immediate("TwoOfAFailureLeaveTheCaptureOpen",
                  {adyen("AUTHORISATION", true, "P", "", 900, 1),
                   adyen("CAPTURE_FAILED", true, "C", "P", 900, 2),
                   adyen("CAPTURE_FAILED", true, "C", "P", 600, 3)},
                  "P authorized 900/?/0/0 needs_review"),
        captured("TwoOfOneRefundAreNone",
                 {adyen("REFUND", true, "R", "P", 200, 3), adyen("REFUND", true, "R", "P", 300, 3)},
                 "P partially_refunded 900/900/?/0 needs_review"),
        captured("TwoOfAFailedRefundStillCountNothing",
                 {adyen("REFUND", true, "R", "P", 200, 3), adyen("REFUND", true, "R", "P", 300, 3),
                  adyen("REFUND_FAILED", true, "R", "P", 300, 4)},
                 "P captured 900/900/0/0 needs_review"),
        captured("ARefusedRefundIsAnotherIdentity",
                 {adyen("REFUND", false, "R", "P", 200, 3),
                  adyen("REFUND", true, "R", "P", 300, 3)},
                 "P partially_refunded 900/900/300/0"),
        captured("TwoOfOneCancelOrRefundAreNone",
                 {adyen("CANCEL_OR_REFUND", true, "M", "P", 300, 3),
                  adyen("CANCEL_OR_REFUND", true, "M", "P", 900, 3)},
                 "P partially_refunded 900/900/?/0 needs_review"),
        captured("TwoOfOneChargebackAreNone",
                 {adyen("CHARGEBACK", true, "D", "P", 300, 3),
                  adyen("CHARGEBACK", true, "D", "P", 900, 3)},
                 "P disputed 900/900/0/? needs_review"),
        captured("OfCommentsMayDifferFromDayToDay",
                 {adyen("ISSUER_COMMENTS", true, "D", "P", 300, 3),
                  adyen("ISSUER_COMMENTS", true, "D", "P", 900, 4)},
                 "P captured 900/900/0/0"),
        manual("ThatAreNegativeAreNoPayment", {adyen("AUTHORISATION", true, "P", "", -5, 1)}, ""),
        manual("TheGreatestIsTakenExactly",
               {adyen("AUTHORISATION", true, "P", "", 9223372036854775807, 1),
                adyen("CAPTURE", true, "C", "P", 9223372036854775807, 2)},
               "P captured 9223372036854775807/9223372036854775807/0/0")),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    Adjustment, AdyenPolicyTest,
    ::testing::Values(manual("ARepeatWithANewerDateIsNoNewAdjustment",
                             {adyen("AUTHORISATION", true, "P", "", 900, 1),
                              adyen("AUTHORISATION_ADJUSTMENT", true, "A1", "P", 1200, 2),
                              adyen("AUTHORISATION_ADJUSTMENT", true, "A1", "P", 1200, 9),
                              adyen("AUTHORISATION_ADJUSTMENT", true, "A2", "P", 1100, 3)},
                             "P authorized 1100/0/0/0"),
                      manual("TwoInOneInstantDecideNothing",
                             {adyen("AUTHORISATION", true, "P", "", 900, 1),
                              adyen("AUTHORISATION_ADJUSTMENT", true, "A1", "P", 1200, 2),
                              adyen("AUTHORISATION_ADJUSTMENT", true, "A2", "P", 1100, 2)},
                             "P authorized ?/0/0/0 needs_review"),
                      manual("TwoThatAgreeNeedNoDate",
                             {adyen("AUTHORISATION", true, "P", "", 900, 1),
                              adyen("AUTHORISATION_ADJUSTMENT", true, "A1", "P", 1200, 0, "", "?"),
                              adyen("AUTHORISATION_ADJUSTMENT", true, "A2", "P", 1200, 2)},
                             "P authorized 1200/0/0/0"),
                      manual("ARefusedOneChangesNothing",
                             {adyen("AUTHORISATION", true, "P", "", 900, 1),
                              adyen("AUTHORISATION_ADJUSTMENT", false, "A1", "P", 1200, 2)},
                             "P authorized 900/0/0/0"),
                      manual("ASmallerOneCounts",
                             {adyen("AUTHORISATION", true, "P", "", 900, 1),
                              adyen("AUTHORISATION_ADJUSTMENT", true, "A1", "P", 500, 2)},
                             "P authorized 500/0/0/0")),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    Dispute, AdyenPolicyTest,
    ::testing::Values(
        disputed("SecondChargebackAgainstAWonPrearbitrationIsLostAndOpen",
                 {"CHARGEBACK", "SECOND_CHARGEBACK", "PREARBITRATION_WON"},
                 "P charged_back 900/900/0/900 needs_review"),
        disputed("TheSchemeDecidesForTheMerchant",
                 {"CHARGEBACK", "SECOND_CHARGEBACK", "SCHEME_ARBITRATION_WON"},
                 "P captured 900/900/0/0"),
        disputed("TheSchemeDecidesAgainstTheMerchant",
                 {"CHARGEBACK", "SCHEME_ARBITRATION_LOST", "PREARBITRATION_WON"},
                 "P charged_back 900/900/0/900"),
        disputed("TwoRulingsOfTheSchemeNeedReview",
                 {"CHARGEBACK", "SCHEME_ARBITRATION_LOST", "SCHEME_ARBITRATION_WON"},
                 "P charged_back 900/900/0/900 needs_review"),
        disputed("AnUndefendedOneIsLostWithoutAChargeback",
                 {"NOTIFICATION_OF_CHARGEBACK", "DISPUTE_DEFENSE_PERIOD_ENDED"},
                 "P charged_back 900/900/0/900"),
        disputed("AnIssuerWhoDoesNotAnswerLoses",
                 {"CHARGEBACK", "CHARGEBACK_REVERSED", "ISSUER_RESPONSE_TIMEFRAME_EXPIRED"},
                 "P captured 900/900/0/0"),
        disputed("ALostPrearbitrationOutranksAReversal",
                 {"CHARGEBACK", "CHARGEBACK_REVERSED", "PREARBITRATION_LOST"},
                 "P charged_back 900/900/0/900"),
        disputed("AFinalWinOutranksALostPrearbitration",
                 {"CHARGEBACK", "PREARBITRATION_LOST", "SCHEME_ARBITRATION_WON"},
                 "P captured 900/900/0/0"),
        disputed("AnOpenPrearbitrationHoldsTheMoneyOfAChargeback",
                 {"CHARGEBACK", "PREARBITRATION_OPEN"}, "P disputed 900/900/0/900"),
        disputed("AnOpenPrearbitrationAfterAReversalHoldsNone",
                 {"CHARGEBACK", "CHARGEBACK_REVERSED", "PREARBITRATION_OPEN"},
                 "P disputed 900/900/0/0"),
        disputed("AnOpenPrearbitrationWithoutAChargebackHoldsNone", {"PREARBITRATION_OPEN"},
                 "P disputed 900/900/0/0"),
        disputed("OpenedWithAChargeback", {"DISPUTE_OPENED_WITH_CHARGEBACK"},
                 "P disputed 900/900/0/900"),
        disputed("WordsWithoutEffect",
                 {"NOTIFICATION_OF_FRAUD", "INFORMATION_SUPPLIED", "ISSUER_COMMENTS",
                  "PREARBITRATION_ACCEPTED", "PREARBITRATION_DECLINED",
                  "PREARBITRATION_ISSUER_WITHDRAWN"},
                 "P captured 900/900/0/0"),
        immediate("AnAcceptedChargebackEndsAPrearbitrationToo",
                  {adyen("AUTHORISATION", true, "P", "", 900, 1),
                   adyen("CHARGEBACK", true, "D", "P", 900, 3, status_detail("Lost")),
                   adyen("PREARBITRATION_OPEN", true, "D", "P", 900, 4)},
                  "P charged_back 900/900/0/900"),
        immediate("DetailsOfAnOlderChargebackDoNotCount",
                  {adyen("AUTHORISATION", true, "P", "", 900, 1),
                   adyen("CHARGEBACK", true, "D", "P", 900, 3, status_detail("Lost")),
                   adyen("CHARGEBACK", true, "D", "P", 900, 4, status_detail("Pending"))},
                  "P disputed 900/900/0/900"),
        immediate(
            "OfTwoDetailsInOneInstantTheGreaterTextDecides",
            {adyen("AUTHORISATION", true, "P", "", 900, 1),
             adyen("CHARGEBACK", true, "D", "P", 900, 3,
                   R"(,"additionalData":{"disputeStatus":"Lost","autoDefended":"true"})"),
             adyen("CHARGEBACK", true, "D", "P", 900, 3,
                   R"(,"additionalData":{"disputeStatus":"Pending","autoDefended":"false"})")},
            "P charged_back 900/900/0/900"),
        immediate("SeveralDisputesAddUp",
                  {adyen("AUTHORISATION", true, "P", "", 900, 1),
                   adyen("CHARGEBACK", true, "D1", "P", 400, 3),
                   adyen("SECOND_CHARGEBACK", true, "D2", "P", 300, 3)},
                  "P charged_back 900/900/0/700"),
        immediate("AnUnnamedEventOfSeveralDisputesHasNoEffect",
                  {adyen("AUTHORISATION", true, "P", "", 900, 1),
                   adyen("CHARGEBACK", true, "D1", "P", 400, 3),
                   adyen("CHARGEBACK", true, "D2", "P", 300, 3),
                   adyen("CHARGEBACK_REVERSED", true, "P", "", 300, 5)},
                  "P disputed 900/900/0/700 needs_review"),
        immediate("AnUnnamedEventMayBeADisputeOfItsOwn",
                  {adyen("SECOND_CHARGEBACK", true, "P", "", 900, 5),
                   adyen("AUTHORISATION", true, "P", "", 900, 1)},
                  "P charged_back 900/900/0/900"),
        immediate("AnUnnamedEventBelongsWhereItsReferenceIsNamed",
                  {adyen("AUTHORISATION", true, "P", "", 900, 1),
                   adyen("AUTHORISATION", true, "Q", "", 500, 1),
                   adyen("SECOND_CHARGEBACK", true, "D", "", 500, 5),
                   adyen("CHARGEBACK", true, "D", "Q", 500, 4)},
                  "P captured 900/900/0/0; Q charged_back 500/500/0/500"),
        manual("AnUnnamedEventOfAPaymentKnownByItsCapture",
               {adyen("SECOND_CHARGEBACK", true, "P", "", 900, 5),
                adyen("CAPTURE", true, "C", "P", 900, 2)},
               "P charged_back 0/900/0/900")),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    Contradictions, AdyenPolicyTest,
    ::testing::Values(manual("ACaptureOfTwoPaymentsIsOfTheLesserAndNeedsReview",
                             {adyen("AUTHORISATION", true, "P", "", 900, 1),
                              adyen("AUTHORISATION", true, "Q", "", 900, 1),
                              adyen("CAPTURE", true, "C", "P", 900, 2),
                              adyen("CAPTURE", true, "C", "Q", 900, 2)},
                             "P captured 900/900/0/0 needs_review; Q authorized 900/0/0/0"),
                      captured("AmountsInTwoCurrenciesNeedReview", {[] {
                                 auto refund = adyen("REFUND", true, "R", "P", 100, 3);
                                 return refund.replace(refund.find("NOK"), 3, "SEK");
                               }()},
                               "P partially_refunded 900/900/100/0 needs_review")),
    kNameOf);

}  // namespace
}  // namespace hookgate
