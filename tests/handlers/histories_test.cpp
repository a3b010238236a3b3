#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "ledger_in_memory.h"

namespace hookgate {
namespace {

// Stripe events. `object` is the inside of the object's JSON.
std::string stripe(const std::string& type, const std::string& object, int second,
                   const std::string& version = "2024-04-10") {
  return R"({"id":"evt","type":")" + type + R"(","created":)" +
         std::to_string(1'800'000'000 + second) +
         (version.empty() ? R"(,"api_version":null)" : R"(,"api_version":")" + version + "\"") +
         R"(,"data":{"object":{"currency":"chf",)" + object + "}}}";
}
std::string number(const std::string& name, long long value) {
  return ",\"" + name + "\":" + std::to_string(value);
}
std::string intent(const std::string& what, long long amount, int second,
                   const std::string& more = "", const std::string& version = "2024-04-10") {
  return stripe("payment_intent." + what, R"("id":"pi_x")" + number("amount", amount) + more,
                second, version);
}
std::string charge(const std::string& what, long long amount, long long captured,
                   long long refunded, int second, const std::string& version = "2024-04-10",
                   const std::string& id = "ch_x") {
  return stripe("charge." + what,
                "\"id\":\"" + id + R"(","payment_intent":"pi_x")" + number("amount", amount) +
                    number("amount_captured", captured) + number("amount_refunded", refunded) +
                    ",\"captured\":" + (captured > 0 ? "true" : "false"),
                second, version);
}
std::string refund(const std::string& type, const std::string& id, long long amount,
                   const std::string& status, int second,
                   const std::string& more = R"(,"payment_intent":"pi_x","charge":"ch_x")",
                   const std::string& version = "2024-04-10") {
  return stripe(
      type, "\"id\":\"" + id + "\",\"status\":\"" + status + "\"" + number("amount", amount) + more,
      second, version);
}
std::string dispute(const std::string& what, long long amount, const std::string& status,
                    int second, const std::string& more = R"(,"payment_intent":"pi_x")") {
  return stripe("charge.dispute." + what,
                R"("id":"du_x","status":")" + status + "\"" + number("amount", amount) + more,
                second);
}

// Adyen items in their envelope. `day` of 2027-01.
std::string adyen(const std::string& code, bool success, const std::string& own,
                  const std::string& original, long long amount, int day,
                  const std::string& more = "", const std::string& date = "") {
  const auto when = date.empty() ? "2027-01-" + std::string(day < 10 ? "0" : "") +
                                       std::to_string(day) + "T08:00:00+01:00"
                                 : date;
  return R"({"live":"false","notificationItems":[{"NotificationRequestItem":{"merchantAccountCode":"ShopA","merchantReference":"o-77","eventCode":")" +
         code + R"(","success":")" + (success ? "true" : "false") + R"(","pspReference":")" + own +
         R"(","originalReference":")" + original + R"(","amount":{"currency":"NOK","value":)" +
         std::to_string(amount) + R"(},"eventDate":")" + when + "\"" + more + "}}]}";
}
std::string status_detail(const std::string& status) {
  return R"(,"additionalData":{"disputeStatus":")" + status + "\"}";
}
const std::string kRecaptured = R"(,"reason":" transaction RECAPTURED ")";

struct History {
  std::string name;
  std::string provider;
  std::vector<std::string> events;
  std::string end;
  bool immediate = false;
};

void PrintTo(const History& history, std::ostream* out) {
  *out << history.name;
}

class HistoriesTest : public ::testing::TestWithParam<History> {
 protected:
  static std::string run(const History& history, const std::vector<std::size_t>& order) {
    FoldSettings settings;
    settings.capture_immediate = history.immediate;
    LedgerInMemory ledger{history.provider, settings};
    for (const auto position : order) ledger.take(history.events[position]);
    return summary(ledger.payments());
  }
};

// All orders of up to seven events, each with every event told again at some later place.
TEST_P(HistoriesTest, EndTheSameInEveryOrder) {
  const auto& history = GetParam();
  std::vector<std::size_t> order(history.events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  ASSERT_LE(order.size(), 7U);
  std::mt19937 random{11};
  do {
    auto with_repeats = order;
    for (const auto event : order) {
      with_repeats.insert(
          with_repeats.begin() + static_cast<std::ptrdiff_t>(random() % (with_repeats.size() + 1)),
          event);
    }
    ASSERT_EQ(run(history, order), history.end);
    ASSERT_EQ(run(history, with_repeats), history.end);
  } while (std::ranges::next_permutation(order).found);
}

const std::string kNew = "2025-09-30.clover";

INSTANTIATE_TEST_SUITE_P(
    Stripe, HistoriesTest,
    ::testing::Values(
        History{"SplitEventsOfOneCapture",
                "stripe",
                {intent("created", 2400, 0), charge("succeeded", 2400, 2400, 0, 2),
                 intent("succeeded", 2400, 2, number("amount_received", 2400)),
                 charge("updated", 2400, 2400, 0, 2)},
                "pi_x captured 2400/2400/0/0"},
        History{"AuthorizedThenCaptured",
                "stripe",
                {intent("amount_capturable_updated", 880, 0), charge("succeeded", 880, 0, 0, 0),
                 charge("captured", 880, 880, 0, 90),
                 intent("succeeded", 880, 90, number("amount_received", 880))},
                "pi_x captured 880/880/0/0"},
        History{"AuthorizedOnly",
                "stripe",
                {intent("created", 880, 0), charge("succeeded", 880, 0, 0, 1)},
                "pi_x authorized 880/0/0/0"},
        History{"PartialCaptureWhoseRestLooksLikeARefund",
                "stripe",
                {intent("amount_capturable_updated", 700, 0), charge("captured", 700, 450, 250, 60),
                 charge("refunded", 700, 450, 250, 60),
                 intent("succeeded", 700, 60, number("amount_received", 450))},
                "pi_x partially_captured 700/450/0/0"},
        History{
            "DeclinedThenPaid",
            "stripe",
            {intent("payment_failed", 300, 0), charge("failed", 300, 0, 0, 0, "2024-04-10", "ch_0"),
             intent("succeeded", 300, 50, number("amount_received", 300)),
             charge("succeeded", 300, 300, 0, 50)},
            "pi_x captured 300/300/0/0"},
        History{"DeclinedOnly",
                "stripe",
                {intent("created", 300, 0), intent("payment_failed", 300, 1)},
                "pi_x failed 0/0/0/0"},
        History{"BankDebitOnItsWay",
                "stripe",
                {intent("created", 300, 0), intent("processing", 300, 1)},
                "pi_x pending 0/0/0/0"},
        History{"TwoRefundsToldByFourTypes",
                "stripe",
                {intent("succeeded", 900, 0, number("amount_received", 900)),
                 refund("refund.created", "re_1", 200, "succeeded", 10),
                 charge("refunded", 900, 900, 200, 10),
                 refund("refund.created", "re_2", 700, "succeeded", 20),
                 charge("refunded", 900, 900, 900, 20),
                 refund("charge.refund.updated", "re_1", 200, "succeeded", 21)},
                "pi_x refunded 900/900/900/0"},
        History{"ARefundThatFails",
                "stripe",
                {intent("succeeded", 900, 0, number("amount_received", 900)),
                 refund("refund.created", "re_1", 400, "succeeded", 10),
                 charge("refunded", 900, 900, 400, 10),
                 refund("refund.failed", "re_1", 400, "failed", 90)},
                "pi_x captured 900/900/0/0"},
        History{"ARefundOfAnUnnamedIntent",
                "stripe",
                {charge("succeeded", 900, 900, 0, 0),
                 refund("refund.created", "re_1", 400, "pending", 10, R"(,"charge":"ch_x")")},
                "pi_x partially_refunded 900/900/400/0"},
        History{"AChargeWithoutAnIntent",
                "stripe",
                {stripe("charge.succeeded",
                        R"("id":"ch_y","amount":50,"amount_captured":50,"captured":true)", 0),
                 refund("refund.created", "re_1", 50, "succeeded", 3, R"(,"charge":"ch_y")")},
                "ch_y refunded 50/50/50/0"},
        History{"AChargeThatTurnsOutToHaveAnIntent",
                "stripe",
                {stripe("charge.succeeded",
                        R"("id":"ch_x","amount":50,"amount_captured":50,"captured":true)", 0),
                 refund("refund.created", "re_1", 20, "succeeded", 3),
                 dispute("created", 50, "won", 4, R"(,"charge":"ch_x")")},
                "pi_x partially_refunded 50/50/20/0"},
        History{"DisputeWon",
                "stripe",
                {intent("succeeded", 600, 0, number("amount_received", 600)),
                 dispute("created", 600, "needs_response", 10),
                 dispute("funds_withdrawn", 600, "needs_response", 10),
                 dispute("updated", 600, "under_review", 20), dispute("closed", 600, "won", 90),
                 dispute("funds_reinstated", 600, "won", 90)},
                "pi_x captured 600/600/0/0"},
        History{"DisputeLost",
                "stripe",
                {charge("succeeded", 600, 600, 0, 0), dispute("created", 600, "needs_response", 10),
                 dispute("funds_withdrawn", 600, "needs_response", 10),
                 dispute("closed", 600, "lost", 90)},
                "pi_x charged_back 600/600/0/600"},
        History{"DisputeLostThenWonOnAppeal",
                "stripe",
                {charge("succeeded", 600, 600, 0, 0), dispute("closed", 600, "lost", 90),
                 dispute("closed", 600, "won", 900)},
                "pi_x captured 600/600/0/0"},
        History{"TwoClosesInOneSecond",
                "stripe",
                {charge("succeeded", 600, 600, 0, 0), dispute("closed", 600, "lost", 90),
                 dispute("closed", 600, "won", 90)},
                "pi_x charged_back 600/600/0/600 needs_review"},
        History{"AnInquiryMovesNoMoney",
                "stripe",
                {charge("succeeded", 600, 600, 0, 0),
                 dispute("created", 600, "warning_needs_response", 9),
                 dispute("closed", 600, "warning_closed", 90)},
                "pi_x captured 600/600/0/0"},
        History{"PreventedWithoutABooking",
                "stripe",
                {charge("succeeded", 600, 600, 0, 0), dispute("closed", 600, "prevented", 9)},
                "pi_x captured 600/600/0/0"},
        History{"DisputeAfterAFullRefund",
                "stripe",
                {charge("succeeded", 600, 600, 0, 0),
                 refund("refund.created", "re_1", 600, "succeeded", 5),
                 dispute("created", 600, "needs_response", 10)},
                "pi_x disputed 600/600/600/600 over_returned"},
        History{"CanceledAfterAuthorization",
                "stripe",
                {intent("amount_capturable_updated", 480, 0), charge("succeeded", 480, 0, 0, 0),
                 charge("refunded", 480, 0, 480, 70),
                 intent("canceled", 480, 70,
                        R"(,"status":"canceled","cancellation_reason":"duplicate")")},
                "pi_x canceled 480/0/0/0"},
        History{"AuthorizationThatLapsed",
                "stripe",
                {charge("succeeded", 480, 0, 0, 0), charge("expired", 480, 0, 0, 700)},
                "pi_x expired 480/0/0/0"},
        History{
            "AReleaseObjectAndARealRefund",
            "stripe",
            {intent("amount_capturable_updated", 1000, 0), charge("captured", 1000, 700, 300, 60),
             refund("refund.created", "re_0", 300, "succeeded", 60),
             refund("refund.created", "re_1", 90, "succeeded", 5000),
             charge("refunded", 1000, 700, 390, 5000)},
            "pi_x partially_refunded 1000/700/90/0"},
        History{"ARefundAsLargeAsTheRestAfterTheChange",
                "stripe",
                {intent("amount_capturable_updated", 1000, 0, "", kNew),
                 charge("captured", 1000, 700, 0, 60, kNew),
                 refund("refund.created", "re_1", 300, "succeeded", 5000,
                        R"(,"payment_intent":"pi_x","charge":"ch_x")", kNew),
                 charge("refunded", 1000, 700, 300, 5000, kNew)},
                "pi_x partially_refunded 1000/700/300/0"},
        History{"ARestThatNothingDecides",
                "stripe",
                {intent("amount_capturable_updated", 1000, 0, "", ""),
                 intent("succeeded", 1000, 60, number("amount_received", 700), ""),
                 charge("refunded", 1000, 700, 300, 9000, "")},
                "pi_x partially_captured 1000/700/?/0 needs_review"},
        History{"Overcapture",
                "stripe",
                {charge("captured", 1000, 1150, 0, 9),
                 refund("refund.created", "re_1", 150, "succeeded", 99)},
                "pi_x partially_refunded 1000/1150/150/0"}),
    [](const auto& history) { return history.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Adyen, HistoriesTest,
    ::testing::Values(
        History{
            "ManualCaptureWithRepeats",
            "adyen",
            {adyen("AUTHORISATION", true, "P", "", 5000, 1),
             adyen("CAPTURE", true, "C", "P", 5000, 2), adyen("CAPTURE", true, "C", "P", 5000, 3)},
            "P captured 5000/5000/0/0"},
        History{"TwoAttemptsOnOneOrder",
                "adyen",
                {adyen("AUTHORISATION", false, "P1", "", 5000, 1),
                 adyen("AUTHORISATION", true, "P2", "", 5000, 2),
                 adyen("AUTHORISATION", false, "P1", "", 5000, 3)},
                "P1 failed 0/0/0/0; P2 captured 5000/5000/0/0",
                true},
        History{"RefusedThenAuthorized",
                "adyen",
                {adyen("PENDING", true, "P", "", 5000, 1),
                 adyen("AUTHORISATION", false, "P", "", 5000, 2),
                 adyen("AUTHORISATION", true, "P", "", 5000, 3),
                 adyen("OFFER_CLOSED", true, "P", "", 5000, 4)},
                "P authorized 5000/0/0/0"},
        History{
            "PartialCapturesOneRefused",
            "adyen",
            {adyen("AUTHORISATION", true, "P", "", 900, 1),
             adyen("CAPTURE", true, "C1", "P", 200, 2), adyen("CAPTURE", true, "C2", "P", 300, 2),
             adyen("CAPTURE", false, "C3", "P", 400, 2)},
            "P partially_captured 900/500/0/0"},
        History{"CaptureThatFails",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE", true, "C", "P", 900, 2),
                 adyen("CAPTURE_FAILED", true, "C", "P", 900, 5)},
                "P authorized 900/0/0/0"},
        History{"ImplicitCaptureThatFails",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE_FAILED", true, "C", "P", 900, 5)},
                "P authorized 900/0/0/0",
                true},
        History{"ImplicitCaptureTakenAgain",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE_FAILED", true, "C", "P", 900, 5),
                 adyen("CAPTURE", true, "C", "P", 900, 9, kRecaptured)},
                "P captured 900/900/0/0",
                true},
        History{"FailedTakenAgainFailedTakenAgain",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE", true, "C", "P", 900, 2),
                 adyen("CAPTURE_FAILED", true, "C", "P", 900, 5),
                 adyen("CAPTURE", true, "C", "P", 900, 9, kRecaptured),
                 adyen("CAPTURE_FAILED", true, "C", "P", 900, 12),
                 adyen("CAPTURE", true, "C", "P", 900, 20, kRecaptured)},
                "P captured 900/900/0/0"},
        History{"FailedAgainAfterTheRecapture",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE", true, "C", "P", 900, 2),
                 adyen("CAPTURE_FAILED", true, "C", "P", 900, 5),
                 adyen("CAPTURE", true, "C", "P", 900, 9, kRecaptured),
                 adyen("CAPTURE_FAILED", true, "C", "P", 900, 12)},
                "P authorized 900/0/0/0 needs_review"},
        History{"ANewerDateWithoutTheReason",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE", true, "C", "P", 900, 2),
                 adyen("CAPTURE_FAILED", true, "C", "P", 900, 5),
                 adyen("CAPTURE", true, "C", "P", 900, 9)},
                "P authorized 900/0/0/0 needs_review"},
        History{
            "DatesAreInstantsNotTexts",
            "adyen",
            {adyen("AUTHORISATION", true, "P", "", 900, 1),
             adyen("CAPTURE", true, "C", "P", 900, 2),
             adyen("CAPTURE_FAILED", true, "C", "P", 900, 0, "", "2027-01-05T10:00:00+00:00"),
             adyen("CAPTURE", true, "C", "P", 900, 0, kRecaptured, "2027-01-05T09:30:00-02:00")},
            "P captured 900/900/0/0"},
        History{"AnUnreadableDateOfAFailure",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE", true, "C", "P", 900, 2),
                 adyen("CAPTURE_FAILED", true, "C", "P", 900, 0, "", "soon")},
                "P authorized 900/0/0/0 needs_review"},
        History{"RefundThatFails",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE", true, "C", "P", 900, 2), adyen("REFUND", true, "R", "P", 250, 3),
                 adyen("REFUND_FAILED", true, "R", "P", 250, 8)},
                "P captured 900/900/0/0"},
        History{
            "RefundThatCameBack",
            "adyen",
            {adyen("AUTHORISATION", true, "P", "", 900, 1), adyen("REFUND", true, "R", "P", 900, 3),
             adyen("REFUNDED_REVERSED", true, "R", "P", 900, 30)},
            "P captured 900/900/0/0",
            true},
        History{"RefundRefused",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("REFUND", false, "R", "P", 900, 3)},
                "P captured 900/900/0/0",
                true},
        History{"CancelOrRefundBeforeACapture",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CANCEL_OR_REFUND", true, "M", "P", 900, 2)},
                "P canceled 900/0/0/0"},
        History{"CancelOrRefundAfterACapture",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE", true, "C", "P", 900, 2),
                 adyen("CANCEL_OR_REFUND", true, "M", "P", 900, 3)},
                "P refunded 900/900/900/0"},
        History{"ExpiredRestAfterAPartialCapture",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE", true, "C", "P", 400, 2), adyen("EXPIRE", true, "P", "", 900, 28)},
                "P partially_captured 900/400/0/0"},
        History{"AdjustedAuthorization",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("AUTHORISATION_ADJUSTMENT", true, "A1", "P", 1200, 2),
                 adyen("AUTHORISATION_ADJUSTMENT", true, "A2", "P", 1100, 3)},
                "P authorized 1100/0/0/0"},
        History{"ChargebackWithNewerDetails",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("NOTIFICATION_OF_CHARGEBACK", true, "D", "P", 900, 5,
                       status_detail("Undefended")),
                 adyen("CHARGEBACK", true, "D", "P", 900, 6, status_detail("Undefended")),
                 adyen("CHARGEBACK", true, "D", "P", 900, 9, status_detail("Accepted"))},
                "P charged_back 900/900/0/900",
                true},
        History{"ChargebackReversed",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CHARGEBACK", true, "D", "P", 900, 6, status_detail("Pending")),
                 adyen("CHARGEBACK_REVERSED", true, "D", "", 900, 9)},
                "P captured 900/900/0/0",
                true},
        History{"SecondChargebackWithoutTheOriginal",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CHARGEBACK", true, "D", "P", 900, 6),
                 adyen("CHARGEBACK_REVERSED", true, "D", "", 900, 9),
                 adyen("SECOND_CHARGEBACK", true, "D", "", 925, 15),
                 adyen("SCHEME_ARBITRATION_LOST", true, "D", "P", 900, 14)},
                "P charged_back 900/900/0/925 over_returned",
                true},
        History{"AReversalThatNamesOnlyThePayment",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CHARGEBACK", true, "D", "P", 900, 6),
                 adyen("CHARGEBACK_REVERSED", true, "P", "", 900, 9)},
                "P captured 900/900/0/0",
                true},
        History{"ADisputeNobodyKnowsMakesNoPayment",
                "adyen",
                {adyen("SECOND_CHARGEBACK", true, "D9", "", 900, 9)},
                ""},
        History{"ANoticeMovesNoMoney",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("NOTIFICATION_OF_CHARGEBACK", true, "D", "P", 900, 5)},
                "P disputed 900/900/0/0",
                true},
        History{"ARequestForInformationHasNoEffect",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("REQUEST_FOR_INFORMATION", true, "D", "P", 900, 5)},
                "P captured 900/900/0/0",
                true},
        History{"TwoSignedAmountsUnderOneReference",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("AUTHORISATION", true, "P", "", 950, 1)},
                "P authorized ?/0/0/0 needs_review"},
        History{"SumsThatDoNotFit",
                "adyen",
                {adyen("AUTHORISATION", true, "P", "", 900, 1),
                 adyen("CAPTURE", true, "C1", "P", 9223372036854775807, 2),
                 adyen("CAPTURE", true, "C2", "P", 1, 2)},
                "P authorized 900/?/0/0 needs_review"}),
    [](const auto& history) { return history.param.name; });

}  // namespace
}  // namespace hookgate
