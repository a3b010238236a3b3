#include <gtest/gtest.h>

#include "history_support.h"

namespace hookgate {
namespace {

// How often a milestone is reached on the way, in every order of arrival and with every event told
// again. `at_most` where an order may skip it.
void expect_times(const History& history, const std::string& milestone, int at_least, int at_most) {
  std::vector<std::size_t> order(history.events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random{3};
  do {
    LedgerInMemory ledger{history.provider, {history.immediate}};
    for (const auto position : with_repeats(order, random)) ledger.take(history.events[position]);
    ASSERT_GE(ledger.times_reached(milestone), at_least) << ::testing::PrintToString(order);
    ASSERT_LE(ledger.times_reached(milestone), at_most) << ::testing::PrintToString(order);
  } while (std::ranges::next_permutation(order).found);
}

TEST(MilestonesTest, APaymentIsCapturedOnceHoweverManyEventsSaySo) {
  const History history{
      "",
      "stripe",
      {charge("succeeded", 600, 600, 0, 0),
       intent("succeeded", 600, 0, number("amount_received", 600)),
       charge("updated", 600, 600, 0, 1), dispute("created", 600, "needs_response", 9)},
      ""};
  expect_times(history, "captured", 1, 1);
  expect_times(history, "authorized", 1, 1);
}

TEST(MilestonesTest, AChargeIsNotCapturedAgainWhenItsIntentBecomesKnown) {
  const History history{
      "",
      "stripe",
      {stripe("charge.succeeded", R"("id":"ch_x","amount":50,"amount_captured":50,"captured":true)",
              0),
       refund("refund.created", "re_1", 20, "succeeded", 3, R"(,"charge":"ch_x")"),
       intent("succeeded", 50, 0, number("amount_received", 50) + R"(,"latest_charge":"ch_x")")},
      ""};
  expect_times(history, "captured", 1, 1);
  expect_times(history, "refunded", 1, 1);
}

TEST(MilestonesTest, AReleasedRestIsNoRefundToTellOf) {
  const History history{"",
                        "stripe",
                        {charge("captured", 1000, 700, 300, 60),
                         refund("refund.created", "re_0", 300, "succeeded", 60)},
                        ""};
  expect_times(history, "refunded", 0, 0);
}

TEST(MilestonesTest, AFailureIsAlwaysTold) {
  const History history{
      "",
      "adyen",
      {adyen("AUTHORISATION", true, "P", "", 900, 1), adyen("CAPTURE", true, "C", "P", 900, 2),
       adyen("CAPTURE_FAILED", true, "C", "P", 900, 3),
       adyen("CAPTURE", true, "C", "P", 900, 9, kRecaptured),
       adyen("REFUND_FAILED", true, "R", "P", 900, 12)},
      ""};
  expect_times(history, "capture_failed", 1, 1);
  expect_times(history, "refund_failed", 1, 1);
  expect_times(history, "captured", 1, 1);
}

TEST(MilestonesTest, ARefundThatHasFailedIsNotTellableAsARefund) {
  const History history{
      "",
      "adyen",
      {adyen("CAPTURE", true, "C", "P", 900, 2), adyen("REFUND_FAILED", true, "R", "P", 900, 12),
       adyen("REFUND", true, "R", "P", 900, 11)},
      ""};
  expect_times(history, "refunded", 0, 1);
}

}  // namespace
}  // namespace hookgate
