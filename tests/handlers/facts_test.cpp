#include <limits>

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
  if (*rc::gen::arbitrary<bool>()) observation.made_at = *rc::gen::arbitrary<std::int64_t>();
  observation.payment = *rc::gen::element<std::string>("", "P");
  observation.details = *rc::gen::element<std::string>("", R"("a":"b",)");
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

RC_GTEST_PROP(FactTest, MergingIsAssociative, ()) {
  const auto a = random_fact();
  const auto b = random_fact();
  const auto c = random_fact();
  auto left = a;
  left.merge(b);
  left.merge(c);
  auto right = b;
  right.merge(c);
  auto whole = a;
  whole.merge(right);
  RC_ASSERT(left.observations == whole.observations);
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

Fact numbered(int from, int to) {
  Fact fact;
  for (int i = from; i < to; ++i) {
    Observation observation;
    observation.amount = i;
    fact.observations.insert(observation);
  }
  return fact;
}

TEST(FactTest, HoldsALimitedNumberOfObservationsTheSameInAnyOrder) {
  const int limit = static_cast<int>(Fact::kObservationsMax);
  auto upwards = numbered(0, limit);
  upwards.merge(numbered(limit / 2, 2 * limit));
  auto downwards = numbered(limit / 2, 2 * limit);
  downwards.merge(numbered(0, limit));
  EXPECT_EQ(upwards.observations.size(), Fact::kObservationsMax);
  EXPECT_TRUE(upwards.observations == downwards.observations);
}

TEST(FactTest, AtTheLimitItsPaymentNeedsReview) {
  auto fact = numbered(0, static_cast<int>(Fact::kObservationsMax));
  fact.kind = fact_kind::kIntent;
  EXPECT_TRUE(fold("stripe", "pi_x", {fact}, {}).needs_review);
  fact.observations.erase(fact.observations.begin());
  EXPECT_FALSE(fold("stripe", "pi_x", {fact}, {}).needs_review);
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

TEST(ExtractionTest, RefusesAmountsBelowZero) {
  EXPECT_TRUE(is_unreadable(
      "stripe",
      R"({"type":"charge.succeeded","data":{"object":{"id":"ch_1","amount":1,"amount_refunded":-1}}})"));
  EXPECT_TRUE(is_unreadable(
      "adyen",
      R"({"notificationItems":[{"NotificationRequestItem":{"eventCode":"AUTHORISATION","pspReference":"P","amount":{"value":-5}}}]})"));
}

TEST(ExtractionTest, RefusesAnIdThatWouldBeCut) {
  const auto body = [](std::size_t length) {
    return R"({"type":"payment_intent.created","data":{"object":{"amount":1,"id":")" +
           std::string(length, 'x') + "\"}}}";
  };
  EXPECT_FALSE(is_unreadable("stripe", body(255)));
  EXPECT_TRUE(is_unreadable("stripe", body(256)));
}

TEST(ExtractionTest, ReplacesWhatNoTextColumnCanHold) {
  const auto extraction = extract(
      "stripe",
      R"({"type":"payment_intent.created","data":{"object":{"amount":1,"id":"pi_1","metadata":{"order":"a\u0000b"}}}})",
      0);
  const auto& fact = std::get<Extracted>(extraction).updates.at(0).fact;
  EXPECT_EQ(fact.observations.begin()->reference,
            "a\xEF\xBF\xBD"
            "b");
}

TEST(ExtractionTest, TakesNoDateThatNobodyMeans) {
  const auto extraction = extract(
      "stripe",
      R"({"type":"payment_intent.created","created":9223372036854775807,"data":{"object":{"amount":1,"id":"pi_1"}}})",
      0);
  const auto& fact = std::get<Extracted>(extraction).updates.at(0).fact;
  EXPECT_FALSE(fact.observations.begin()->at.has_value());
}

TEST(ExtractionTest, TakesTheConnectedAccount) {
  const auto extraction = extract(
      "stripe",
      R"({"type":"payment_intent.created","account":"acct_1","data":{"object":{"amount":1,"id":"pi_1"}}})",
      0);
  EXPECT_EQ(std::get<Extracted>(extraction).account, "acct_1");
}

TEST(FigureTest, ASumThatDoesNotFitIsNotDecidedAndAtLeastTheGreatest) {
  constexpr auto kGreatest = std::numeric_limits<std::int64_t>::max();
  auto figure = Figure::of(kGreatest);
  figure += Figure::of(1);
  EXPECT_FALSE(figure.is_decided());
  EXPECT_EQ(figure.at_least, kGreatest);
}

TEST(MoneyTest, ShowsTheSameCurrencyByItsProvidersTable) {
  EXPECT_EQ(decimal_amount("adyen", "ISK", 448800), "4488");
  EXPECT_EQ(decimal_amount("stripe", "isk", 448800), "4488");
  EXPECT_EQ(decimal_amount("adyen", "UGX", 4488), "4488");
  EXPECT_EQ(decimal_amount("stripe", "ugx", 448800), "4488");
  EXPECT_EQ(decimal_amount("adyen", "CVE", 448), "448");
  EXPECT_EQ(decimal_amount("stripe", "cve", 448), "4.48");
  EXPECT_EQ(decimal_amount("adyen", "MGA", 448), "4.48");
  EXPECT_EQ(decimal_amount("stripe", "mga", 448), "448");
  EXPECT_EQ(decimal_amount("adyen", "IQD", 4488), "4.488");
  EXPECT_EQ(decimal_amount("stripe", "iqd", 4488), "44.88");
}

TEST(MoneyTest, TakesNoPartOfTheTableForACurrency) {
  EXPECT_EQ(decimal_amount("stripe", "F C", 448), "4.48");
  EXPECT_EQ(decimal_amount("stripe", "", 448), "4.48");
  EXPECT_EQ(decimal_amount("stripe", "eur", std::numeric_limits<std::int64_t>::min()),
            "-92233720368547758.08");
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
  EXPECT_EQ(make_handler({.name = "x", .kind = "amqp"}), nullptr);
  EXPECT_EQ(make_handler({.name = "ledger", .kind = "payments"})->name(), "ledger");
}

}  // namespace
}  // namespace hookgate
