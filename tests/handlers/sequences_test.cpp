#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "handlers/payments/money.h"
#include "history_support.h"

namespace hookgate {
namespace {

using nlohmann::json;

// The shared sequences through the pure part of the ledger: every order of arrival of up to seven
// events, each also with every event told again. Their twins are in histories_test.cpp, and they
// run through a whole gateway in tests/gateway.
std::optional<json> shared_sequences() {
  const char* given = std::getenv("HOOKGATE_SHARED");
  const auto folder = given != nullptr
                          ? std::filesystem::path{given}
                          : std::filesystem::path{HOOKGATE_SOURCE_DIR} / ".." / "shared";
  std::ifstream in{folder / "cases" / "open" / "sequences.json"};
  if (!in) return std::nullopt;
  return json::parse(in).at("sequences");
}

std::string stripe_body(const json& event) {
  auto object = event.at("object");
  if (object.at("object") != "payment_intent") object["payment_intent"] = object.at("payment");
  object.erase("payment");
  json body{{"id", event.at("event_id")},
            {"type", event.at("type")},
            {"created", event.at("created")},
            {"data", {{"object", object}}}};
  body["api_version"] = event.contains("api_version") ? event["api_version"] : json("2024-06-20");
  return body.dump();
}

std::string adyen_body(const json& event) {
  auto item = event;
  for (const auto* own : {"n", "provider"}) item.erase(own);
  item["success"] = event.at("success").get<bool>() ? "true" : "false";
  item["merchantAccountCode"] = "ExampleMerchantECOM";
  return json{{"notificationItems", {{{"NotificationRequestItem", item}}}}}.dump();
}

struct Sequence {
  json source;
  std::vector<std::string> bodies;

  explicit Sequence(json from) : source(std::move(from)) {
    const bool is_stripe = source.at("provider") == "stripe";
    for (const auto& event : source.at("events"))
      bodies.push_back(is_stripe ? stripe_body(event) : adyen_body(event));
  }

  LedgerInMemory run(const std::vector<std::size_t>& order) const {
    FoldSettings settings;
    settings.capture_immediate = source.at("config").value("capture", "") == "immediate";
    LedgerInMemory ledger{source.at("provider"), settings};
    for (const auto position : order) ledger.take(bodies[position]);
    return ledger;
  }
};

json seen_of(const PaymentState& state) {
  const auto amount = [](const Amount& value) { return value ? json(*value) : json(); };
  auto flags = json::array();
  if (state.needs_review) flags.push_back("needs_review");
  if (state.over_returned) flags.push_back("over_returned");
  return {{"status", state.status},
          {"amount_authorized", amount(state.authorized)},
          {"amount_captured", amount(state.captured)},
          {"amount_refunded", amount(state.refunded)},
          {"amount_disputed", amount(state.disputed)},
          {"flags", flags}};
}

void expect_final(const json& final, const LedgerInMemory& ledger) {
  json seen = json::object();
  for (const auto& [id, state] : ledger.payments()) seen[id] = seen_of(state);
  json wanted = final.at("payments");
  for (auto& [id, payment] : wanted.items()) {
    if (!payment.contains("flags")) payment["flags"] = json::array();
    payment.erase("decimal");
  }
  ASSERT_EQ(seen, wanted);
  for (const auto& alert : final.value("alerts", json::array()))
    ASSERT_EQ(ledger.times_reached(alert), 1) << alert;
  if (final.contains("facts") && final["facts"].contains("captured_effects")) {
    ASSERT_EQ(ledger.times_reached("captured"), final["facts"]["captured_effects"].get<int>());
  }
}

class SharedSequenceTest : public ::testing::TestWithParam<int> {};

TEST_P(SharedSequenceTest, EndsTheSameInEveryOrder) {
  const auto sequences = shared_sequences();
  if (!sequences)
    GTEST_SKIP() << "the shared cases are not here; histories_test.cpp has their twins";
  ASSERT_GT(sequences->size(), static_cast<std::size_t>(GetParam()));
  const Sequence sequence{sequences->at(static_cast<std::size_t>(GetParam()))};
  std::vector<std::size_t> order(sequence.bodies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  ASSERT_LE(order.size(), 7U);
  std::mt19937 random{5};
  do {
    const auto& final = sequence.source.at("final");
    expect_final(final, sequence.run(order));
    expect_final(final, sequence.run(with_repeats(order, random)));
    if (HasFatalFailure()) FAIL() << ::testing::PrintToString(order);
  } while (std::ranges::next_permutation(order).found);
}

INSTANTIATE_TEST_SUITE_P(SEQ, SharedSequenceTest, ::testing::Range(0, 21), [](const auto& index) {
  return (index.param < 9 ? "0" : "") + std::to_string(index.param + 1);
});

TEST(SharedSequencesTest, ShowDecimalsAsTheyAsk) {
  const auto sequences = shared_sequences();
  if (!sequences) GTEST_SKIP() << "the shared cases are not here";
  int compared = 0;
  for (const auto& source : *sequences) {
    const Sequence sequence{source};
    std::vector<std::size_t> order(sequence.bodies.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto ledger = sequence.run(order);
    for (const auto& [id, wanted] : source.at("final").at("payments").items()) {
      const auto decimals = wanted.value("decimal", json::object());
      for (const auto& [field, text] : decimals.items()) {
        const auto& currency = ledger.payments().at(id).currency;
        const auto seen = decimal_amount(source.at("provider").get<std::string>(), currency,
                                         wanted.at(field).get<std::int64_t>());
        EXPECT_EQ(seen, text.get<std::string>()) << id;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace hookgate
