#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "handlers/payments/extraction.h"
#include "handlers/payments/money.h"
#include "handlers/registry.h"
#include "ledger_in_memory.h"

namespace hookgate {
namespace {

Observation random_observation() {
  Observation observation;
  observation.code = *rc::gen::element<std::string>("a", "b", "c\"\\\n");
  observation.status = *rc::gen::element<std::string>("", "true", "zł");
  if (*rc::gen::arbitrary<bool>()) observation.amount = *rc::gen::arbitrary<std::int64_t>();
  if (*rc::gen::arbitrary<bool>()) observation.at = *rc::gen::inRange<std::int64_t>(0, 5);
  return observation;
}

Fact random_fact() {
  Fact fact;
  const auto count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) fact.observations.insert(random_observation());
  return fact;
}

RC_GTEST_PROP(FactTest, MergingIsCommutative, ()) {
  const auto a = random_fact();
  const auto b = random_fact();
  auto ab = a;
  ab.merge(b);
  auto ba = b;
  ba.merge(a);
  RC_ASSERT(ab.observations == ba.observations);
}

RC_GTEST_PROP(FactTest, MergingAgainChangesNothing, ()) {
  auto a = random_fact();
  const auto b = random_fact();
  a.merge(b);
  RC_ASSERT(!a.merge(b));
}

RC_GTEST_PROP(FactTest, ObservationsAreReadBackAsWritten, ()) {
  const auto fact = random_fact();
  RC_ASSERT(parse_observations(observations_json(fact.observations)) == fact.observations);
}

TEST(FactTest, HoldsALimitedNumberOfObservations) {
  Fact fact;
  Fact many;
  for (int i = 0; i < 2 * static_cast<int>(Fact::kObservationsMax); ++i) {
    Observation observation;
    observation.amount = i;
    many.observations.insert(observation);
  }
  fact.merge(many);
  EXPECT_EQ(fact.observations.size(), Fact::kObservationsMax);
}

bool is_unreadable(const std::string& provider, const std::string& body) {
  return std::holds_alternative<Unreadable>(extract(provider, body, 0));
}
bool is_ignored(const std::string& provider, const std::string& body) {
  return std::holds_alternative<NotForTheLedger>(extract(provider, body, 0));
}

TEST(ExtractionTest, LeavesTypesThatAreNotItsOwnAlone) {
  EXPECT_TRUE(
      is_ignored("stripe", R"({"type":"shiny.thing.created","data":{"object":{"id":"x"}}})"));
  EXPECT_TRUE(is_ignored(
      "stripe",
      R"({"type":"invoice.paid","data":{"object":{"id":"in_1","payment_intent":"pi_1","amount_paid":5}}})"));
  EXPECT_TRUE(is_ignored(
      "adyen",
      R"({"notificationItems":[{"NotificationRequestItem":{"eventCode":"REPORT_AVAILABLE","pspReference":"r.csv"}}]})"));
  EXPECT_TRUE(is_ignored("standard-webhooks", "{}"));
}

TEST(ExtractionTest, SaysWhatIsMissingInsteadOfGuessing) {
  EXPECT_TRUE(
      is_unreadable("stripe", R"({"type":"charge.succeeded","data":{"object":{"id":"ch_1"}}})"));
  EXPECT_TRUE(is_unreadable(
      "stripe", R"({"type":"charge.succeeded","data":{"object":{"id":"ch_1","amount":"100"}}})"));
  EXPECT_TRUE(
      is_unreadable("stripe", R"({"type":"charge.succeeded","data":{"object":{"amount":100}}})"));
  EXPECT_TRUE(is_unreadable(
      "stripe", R"({"type":"refund.created","data":{"object":{"id":"re_1","amount":100}}})"));
  EXPECT_TRUE(is_unreadable(
      "stripe",
      R"({"type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","amount":1.5}}})"));
  EXPECT_TRUE(is_unreadable(
      "stripe",
      R"({"type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","amount":92233720368547758080}}})"));
  EXPECT_TRUE(is_unreadable(
      "adyen",
      R"({"notificationItems":[{"NotificationRequestItem":{"eventCode":"CAPTURE","pspReference":"C","amount":{"value":5}}}]})"));
}

TEST(ExtractionTest, TakesAnExpandedObjectForItsId) {
  const auto extraction = extract(
      "stripe",
      R"({"type":"charge.succeeded","data":{"object":{"id":"ch_1","amount":1,"payment_intent":{"id":"pi_1"}}}})",
      0);
  EXPECT_EQ(std::get<Extracted>(extraction).updates.at(0).payment, "pi_1");
}

TEST(ExtractionTest, TakesTheRefundsInsideACharge) {
  const auto extraction = extract(
      "stripe",
      R"({"type":"charge.refunded","data":{"object":{"id":"ch_1","amount":9,"payment_intent":"pi_1","refunds":{"data":[{"id":"re_1","amount":4,"status":"succeeded"}]}}}})",
      0);
  const auto& updates = std::get<Extracted>(extraction).updates;
  ASSERT_EQ(updates.size(), 2U);
  EXPECT_EQ(updates[1].fact.id, "re_1");
}

TEST(MoneyTest, KnowsEachProvidersOwnDigits) {
  EXPECT_EQ(decimal_amount("stripe", "eur", 1099), "10.99");
  EXPECT_EQ(decimal_amount("stripe", "jpy", 1200), "1200");
  EXPECT_EQ(decimal_amount("stripe", "clp", 1200), "1200");
  EXPECT_EQ(decimal_amount("adyen", "CLP", 1200), "12");
  EXPECT_EQ(decimal_amount("adyen", "IDR", 1200), "1200");
  EXPECT_EQ(decimal_amount("stripe", "idr", 1200), "12");
  EXPECT_EQ(decimal_amount("adyen", "KWD", 12345), "12.345");
  EXPECT_EQ(decimal_amount("stripe", "eur", 5), "0.05");
  EXPECT_EQ(decimal_amount("stripe", "eur", -5), "-0.05");
}

TEST(RegistryTest, MakesOnlyWhatItKnows) {
  EXPECT_EQ(make_handler({"x", "sql", "manual"}), nullptr);
  EXPECT_EQ(make_handler({"ledger", "payments", "manual"})->name(), "ledger");
}

}  // namespace
}  // namespace hookgate
