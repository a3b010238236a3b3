#include "gateway_support.h"

namespace hookgate {
namespace {

// What the ledger does in SQL beyond the fold, through a running gateway.
class LedgerTest : public GatewayTest {
 protected:
  void SetUp() override {
    GatewayTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    address_ = start_gateway();
  }

  void stripe(const std::string& id, const std::string& type, const std::string& object) {
    const auto request =
        signed_request(*stripe_, "stripe", stripe_event(id, type, object), system_now());
    EXPECT_EQ(send(address_, request).status, 200);
    drain();
  }
  void paid(const std::string& event, const std::string& payment, const std::string& order,
            int amount = 700) {
    stripe(event, "payment_intent.succeeded",
           R"({"id":")" + payment + R"(","amount":)" + std::to_string(amount) +
               R"(,"amount_received":)" + std::to_string(amount) +
               R"(,"currency":"sek","status":"succeeded","metadata":{"order":")" + order +
               R"("}})");
  }
  std::string flags(const std::string& payment) {
    return database().value(
        "SELECT array_to_string(flags, ',') FROM hookgate.payments WHERE payment_id = '" + payment +
        "'");
  }
  std::string row(const std::string& payment) {
    return database().value(
        "SELECT concat_ws('/', status, amount_captured, amount_refunded, amount_disputed) FROM "
        "hookgate.payments "
        "WHERE payment_id = '" +
        payment + "'");
  }

  std::string address_;
  std::unique_ptr<Provider> stripe_ = test_provider("stripe", kStripeSecret);
};

TEST_F(LedgerTest, FlagsTwoLivePaymentsOfOneOrder) {
  paid("evt_1", "pi_1", "order-9");
  EXPECT_EQ(flags("pi_1"), "");
  paid("evt_2", "pi_2", "order-9");
  paid("evt_3", "pi_3", "order-10");
  EXPECT_EQ(flags("pi_1"), "duplicate_payment");
  EXPECT_EQ(flags("pi_2"), "duplicate_payment");
  EXPECT_EQ(flags("pi_3"), "");
}

TEST_F(LedgerTest, FlagsNoPaymentBesideAFailedAttempt) {
  stripe("evt_1", "payment_intent.payment_failed",
         R"({"id":"pi_1","amount":700,"metadata":{"order":"order-9"}})");
  paid("evt_2", "pi_2", "order-9");
  EXPECT_EQ(flags("pi_1"), "");
  EXPECT_EQ(flags("pi_2"), "");
}

TEST_F(LedgerTest, TakesTheFlagAwayWhenOneOfTheTwoIsCanceled) {
  stripe(
      "evt_1", "payment_intent.amount_capturable_updated",
      R"({"id":"pi_1","amount":700,"status":"requires_capture","metadata":{"order":"order-9"}})");
  paid("evt_2", "pi_2", "order-9");
  EXPECT_EQ(flags("pi_2"), "duplicate_payment");
  stripe("evt_3", "payment_intent.canceled",
         R"({"id":"pi_1","amount":700,"status":"canceled","metadata":{"order":"order-9"}})");
  EXPECT_EQ(flags("pi_1"), "");
  EXPECT_EQ(flags("pi_2"), "");
}

TEST_F(LedgerTest, FlagsAPaymentWhoseEventCameWithTwoContentsWhicheverWasFirst) {
  paid("evt_1", "pi_1", "a", 700);
  paid("evt_1", "pi_1", "a", 900);
  paid("evt_2", "pi_2", "b", 900);
  paid("evt_2", "pi_2", "b", 700);
  EXPECT_EQ(flags("pi_1"), "needs_review");
  EXPECT_EQ(flags("pi_2"), "needs_review");
  EXPECT_EQ(row("pi_1"), "captured/700/0/0");
}

TEST_F(LedgerTest, ParksARefundOfAnUnknownChargeUntilTheChargeNamesItsPayment) {
  stripe("evt_1", "refund.created",
         R"({"id":"re_1","charge":"ch_1","amount":200,"status":"succeeded"})");
  EXPECT_EQ(database().count("hookgate.payments"), 0);
  EXPECT_EQ(database().value("SELECT status FROM hookgate.events"), "done");
  stripe(
      "evt_2", "charge.succeeded",
      R"({"id":"ch_1","payment_intent":"pi_1","amount":700,"amount_captured":700,"captured":true})");
  EXPECT_EQ(row("pi_1"), "partially_refunded/700/200/0");
}

TEST_F(LedgerTest, MovesAChargeThatTurnsOutToBelongToAnIntent) {
  stripe("evt_1", "charge.succeeded",
         R"({"id":"ch_1","amount":700,"amount_captured":700,"captured":true})");
  EXPECT_EQ(row("ch_1"), "captured/700/0/0");
  stripe(
      "evt_2", "refund.created",
      R"({"id":"re_1","charge":"ch_1","payment_intent":"pi_1","amount":700,"status":"succeeded"})");
  EXPECT_EQ(row("pi_1"), "refunded/700/700/0");
  EXPECT_EQ(database().count("hookgate.payments"), 1);
}

TEST_F(LedgerTest, ReachesAMilestoneOnceHoweverOftenItIsTold) {
  paid("evt_1", "pi_1", "a");
  paid("evt_2", "pi_1", "a");
  stripe(
      "evt_3", "charge.succeeded",
      R"({"id":"ch_1","payment_intent":"pi_1","amount":700,"amount_captured":700,"captured":true})");
  EXPECT_EQ(database().count("hookgate.payment_milestones WHERE milestone = 'captured'"), 1);
}

TEST_F(LedgerTest, KeepsOneRowAFactHoweverManyEventsTellOfIt) {
  for (const auto* type : {"refund.created", "refund.updated", "charge.refund.updated"}) {
    stripe(std::string{"evt_"} + type, type,
           R"({"id":"re_1","payment_intent":"pi_1","amount":200,"status":"succeeded"})");
  }
  EXPECT_EQ(database().count("hookgate.payment_facts WHERE kind = 'refund' AND amount = 200"), 1);
}

TEST_F(LedgerTest, GivesUpOnAnEventItCannotReadAndSaysWhy) {
  stripe("evt_1", "charge.succeeded", R"({"id":"ch_1","payment_intent":"pi_1","amount":"700"})");
  EXPECT_EQ(database().value("SELECT status || ': ' || last_error FROM hookgate.events"),
            "dead: payments: a charge without integer amounts of at least 0");
}

TEST_F(LedgerTest, TakesIdsThatTextColumnsCannotHold) {
  stripe("evt_1", "payment_intent.succeeded",
         R"({"id":"pi_\u0000x","amount":5,"amount_received":5,"status":"succeeded"})");
  EXPECT_EQ(database().value("SELECT status FROM hookgate.events"), "done");
  EXPECT_EQ(database().count("hookgate.payments"), 1);
}

TEST_F(LedgerTest, KeepsAccountsApart) {
  const auto event = [&](const std::string& id, const std::string& account) {
    auto body =
        stripe_event(id, "payment_intent.succeeded",
                     R"({"id":"pi_1","amount":5,"amount_received":5,"status":"succeeded"})");
    body.insert(1, "\"account\":\"" + account + "\",");
    EXPECT_EQ(send(address_, signed_request(*stripe_, "stripe", body, system_now())).status, 200);
  };
  event("evt_1", "acct_1");
  event("evt_1", "acct_2");
  drain();
  EXPECT_EQ(database().count("hookgate.events"), 2);
  EXPECT_EQ(database().count("hookgate.payments"), 2);
}

}  // namespace
}  // namespace hookgate
