#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "history_support.h"

namespace hookgate {
namespace {

// Nobody thought of these histories: whatever events come, plausible or not, the end must not
// depend on their order or repetition.

std::string any_adyen_event() {
  static const std::vector<std::string> codes{"AUTHORISATION",
                                              "AUTHORISATION",
                                              "CAPTURE",
                                              "CAPTURE",
                                              "CAPTURE_FAILED",
                                              "REFUND",
                                              "REFUND_FAILED",
                                              "CANCELLATION",
                                              "CANCEL_OR_REFUND",
                                              "AUTHORISATION_ADJUSTMENT",
                                              "EXPIRE",
                                              "NOTIFICATION_OF_CHARGEBACK",
                                              "CHARGEBACK",
                                              "CHARGEBACK",
                                              "CHARGEBACK_REVERSED",
                                              "SECOND_CHARGEBACK",
                                              "PREARBITRATION_OPEN",
                                              "PREARBITRATION_WON",
                                              "SCHEME_ARBITRATION_LOST"};
  const auto code = *rc::gen::elementOf(codes);
  const bool is_own = code == "AUTHORISATION" || code == "EXPIRE";
  const auto payment = *rc::gen::element<std::string>("P", "P", "P", "Q");
  auto own = payment;
  auto original = std::string{};
  if (!is_own) {
    own = *rc::gen::element<std::string>("M1", "M2", "M3", "P");
    const bool may_be_unnamed = code.find("CHARGEBACK") != std::string::npos ||
                                code.find("ARBITRATION") != std::string::npos;
    original = may_be_unnamed && *rc::gen::arbitrary<bool>() ? "" : payment;
  }
  const auto amount = *rc::gen::element<long long>(900, 900, 400, 9223372036854775807);
  const auto day = *rc::gen::inRange(1, 5);
  const auto more = *rc::gen::element<std::string>("", kRecaptured, status_detail("Lost"));
  const auto date = *rc::gen::element<std::string>("", "", "", "soon");
  return adyen(code, *rc::gen::weightedElement<bool>({{5, true}, {1, false}}), own, original,
               amount, day, more, date);
}

// An object keeps its charge for life, though not every event names it, or names the intent.
std::string any_links(const std::string& charge) {
  return *rc::gen::element<std::string>(R"(,"payment_intent":"pi_x","charge":")" + charge + "\"",
                                        R"(,"charge":")" + charge + "\"",
                                        R"(,"payment_intent":"pi_x")");
}

std::string any_stripe_event() {
  const auto amount = *rc::gen::element<long long>(1000, 300, 700, 9223372036854775807);
  const auto second = *rc::gen::element(0, 60, 62, 9000);
  const auto version = *rc::gen::element<std::string>("2024-04-10", "2025-09-30.clover", "");
  const auto refund_id = *rc::gen::element<std::string>("re_1", "re_2");
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      return intent(*rc::gen::element<std::string>("amount_capturable_updated", "succeeded",
                                                   "canceled", "payment_failed", "created"),
                    amount, second,
                    *rc::gen::element<std::string>("", R"(,"latest_charge":"ch_x")",
                                                   R"(,"amount_received":700)"),
                    version);
    case 1:
      return charge(*rc::gen::element<std::string>("captured", "refunded", "succeeded", "failed"),
                    amount, *rc::gen::element<long long>(0, 700),
                    *rc::gen::element<long long>(0, 300), second, version);
    case 2:
      return stripe("charge.succeeded",
                    R"("id":")" + *rc::gen::element<std::string>("ch_x", "ch_y") +
                        R"(","captured":true)" + number("amount", amount),
                    second, version);
    case 3:
      return refund(*rc::gen::element<std::string>("refund.created", "charge.refund.updated"),
                    refund_id, amount, *rc::gen::element<std::string>("succeeded", "failed"),
                    second, any_links(refund_id == "re_1" ? "ch_x" : "ch_y"), version);
    case 4:
      return stripe("invoice.paid", R"("id":"in_1","payment_intent":"pi_x","charge":"ch_x")",
                    second, version);
    default:
      return dispute(*rc::gen::element<std::string>("created", "closed", "funds_withdrawn"), amount,
                     *rc::gen::element<std::string>("needs_response", "lost", "won",
                                                    "warning_closed", "appeal_under_review"),
                     second, any_links("ch_x"));
  }
}

void check_any_order(std::string provider, std::string (*any_event)()) {
  History history;
  history.provider = std::move(provider);
  history.immediate = *rc::gen::arbitrary<bool>();
  const auto count = *rc::gen::inRange(1, 9);
  for (int i = 0; i < count; ++i) history.events.push_back(any_event());
  std::vector<std::size_t> order(history.events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = end_of(history, order);
  std::mt19937 random{*rc::gen::arbitrary<unsigned>()};
  for (int i = 0; i < 5; ++i) {
    std::ranges::shuffle(order, random);
    if (end_of(history, with_repeats(order, random)) == end) continue;
    for (const auto& event : history.events) RC_LOG() << event << "\n";
    RC_FAIL("another order ends in " + end_of(history, order) + ", the first one in " + end);
  }
}

RC_GTEST_PROP(AnyOrderTest, EndsTheSameForAnyAdyenEvents, ()) {
  check_any_order("adyen", any_adyen_event);
}

RC_GTEST_PROP(AnyOrderTest, EndsTheSameForAnyStripeEvents, ()) {
  check_any_order("stripe", any_stripe_event);
}

}  // namespace
}  // namespace hookgate
