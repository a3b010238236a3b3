#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

#include "case_support.h"
#include "config.h"
#include "handlers/payments/money.h"

namespace hookgate {
namespace {

using nlohmann::json;

// Runs the shared cases of faults that others had, one file a case, through a running gateway.
// Steps that the file names in words only have a function of their own below. `kill9` is a stop in
// this process; the real kill -9 is in faults_test.cpp.
class OpenCasesTest : public GatewayTest {
 protected:
  void load(const std::string& id) {
    const auto shared = shared_folder();
    if (!shared) GTEST_SKIP() << "the shared cases are not here; their twins run without them";
    case_ = read_json(*shared / "cases/open" / (id + ".json"));
    set_clock(given().at("now").get<long long>());
  }
  bool is_loaded() const { return !case_.is_null(); }
  const json& given() const { return case_.at("given"); }
  const json& expect() const { return case_.at("expect"); }

  static std::vector<std::string> secrets_of(const json& secret) {
    if (secret.is_array()) return secret.get<std::vector<std::string>>();
    return {secret.get<std::string>()};
  }

  // Sources for the case's secrets: one for its provider, or one per name of an object.
  std::string sources(const json& secret, const std::string& more = "") const {
    std::string blocks;
    const auto provider_of = [](const std::string& name) {
      return name.starts_with("stripe")  ? "stripe"
             : name.starts_with("adyen") ? "adyen"
                                         : "standard-webhooks";
    };
    if (secret.is_object()) {
      for (const auto& [name, value] : secret.items()) {
        blocks += source_block(name, provider_of(name), secrets_of(value), more);
      }
      return blocks;
    }
    const auto provider = given().at("provider").get<std::string>();
    return source_block(provider, provider_of(provider), secrets_of(secret), more);
  }

  std::string config(const std::string& source_blocks, int workers = 4) {
    return test_config(database().url(), workers, source_blocks);
  }
  std::string start(const std::string& more = "", int workers = 4) {
    return start_gateway(config(sources(given().at("secret"), more), workers));
  }

  static void expect_status(const json& wanted, int status, const std::string& what) {
    if (!wanted.contains("status_in")) return;
    const auto& allowed = wanted.at("status_in");
    EXPECT_TRUE(std::ranges::any_of(allowed, [&](const json& one) { return one == status; }))
        << what << ": answered " << status << ", allowed " << allowed;
  }

  void send_requests(const std::string& address, const json& requests, const json& expectations) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto what = "request " + std::to_string(i + 1);
      drain();
      const auto effects_before = effects();
      const auto answer = send(address, case_request(requests[i]));
      if (expectations.contains("all_requests"))
        expect_status(expectations["all_requests"], answer.status, what);
      if (!expectations.contains("per_request")) continue;
      const auto& wanted = expectations["per_request"][i];
      expect_status(wanted, answer.status, what);
      if (!wanted.contains("effects")) continue;
      drain();
      EXPECT_EQ(effects() - effects_before, wanted["effects"].get<int>()) << what;
    }
  }

  void check_totals() {
    drain();
    if (expect().contains("events_stored_total")) {
      EXPECT_EQ(database().count("hookgate.events"), expect()["events_stored_total"].get<int>());
    }
    if (expect().contains("effects_total") && expect()["effects_total"].is_number()) {
      EXPECT_EQ(effects(), expect()["effects_total"].get<int>());
    }
  }

  void check_bytes(const json& requests) {
    for (const auto& row :
         database().execute("SELECT encode(body, 'base64') FROM hookgate.event_bodies").rows) {
      auto text = *row[0];
      std::erase(text, '\n');
      EXPECT_TRUE(std::ranges::any_of(
          requests, [&](const json& one) { return one.at("body_base64") == text; }));
    }
  }

  void check_payment(const json& wanted, const std::string& suffix = "") {
    const auto id = database().value(
        "SELECT min(payment_id) FROM hookgate.payments WHERE payment_id LIKE '%" + suffix + "'");
    EXPECT_EQ(compare_payment(database(), id, wanted), "");
  }

  // The plain form: requests one after the other, then what the database must hold.
  void run_requests(const std::string& more = "") {
    const auto address = start(more);
    send_requests(address, given().at("requests"), expect());
    check_totals();
    if (expect().value("raw_body_stored_byte_exact", false)) check_bytes(given()["requests"]);
    if (expect().contains("payments")) {
      for (const auto& [id, wanted] : expect()["payments"].items()) {
        EXPECT_EQ(compare_payment(database(), id, wanted), "");
      }
    }
  }

  // The requests of the case in every order, each order on a database of its own.
  template <typename Check>
  void in_every_order(Check check) {
    std::vector<std::size_t> order(given().at("requests").size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      stop_gateways();
      database().execute(
          "TRUNCATE hookgate.events, hookgate.event_bodies, hookgate.conflicts, "
          "hookgate.revisions");
      database().execute(
          "TRUNCATE hookgate.payments, hookgate.payment_facts, hookgate.payment_milestones");
      const auto address = start();
      for (const auto position : order) {
        EXPECT_EQ(send(address, case_request(given()["requests"][position])).status, 200);
      }
      drain();
      check();
    } while (std::ranges::next_permutation(order).found);
  }

  AbstractEvents abstract(const std::string& suffix = "") const {
    return {given().at("provider"), given().at("secret"), suffix,
            SystemTime{std::chrono::seconds{given().at("now").get<long long>()}}};
  }

  // "amount_captured": 1000 before the sequence, as an event.
  static json precondition(const json& first_object, int amount) {
    const auto payment = first_object.contains("payment_intent") ? first_object["payment_intent"]
                                                                 : first_object["id"];
    return {{"event_id", "evt_before_" + payment.get<std::string>()},
            {"type", "payment_intent.succeeded"},
            {"created", 1699990000},
            {"object",
             {{"id", payment},
              {"object", "payment_intent"},
              {"amount", amount},
              {"amount_received", amount},
              {"currency", "eur"},
              {"status", "succeeded"}}}};
  }

  json events_with_precondition() const {
    json events = json::array();
    if (given().contains("precondition") && given()["precondition"].contains("amount_captured")) {
      events.push_back(precondition(given()["sequence"][0]["object"],
                                    given()["precondition"]["amount_captured"]));
    }
    for (const auto& event : given().at("sequence")) events.push_back(event);
    return events;
  }

  // Every order of the sequence, each under ids of its own; or all events at the same moment.
  void run_sequence(bool in_parallel, int repetitions) {
    const auto address = start();
    const auto events = events_with_precondition();
    std::vector<std::size_t> order(events.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int n = 0; n < repetitions; ++n) {
      const auto maker = abstract("_" + std::to_string(n));
      std::vector<std::thread> threads;
      for (const auto position : order) {
        auto request = maker.request(events[position]);
        if (in_parallel) {
          threads.emplace_back(
              [&address, request] { EXPECT_EQ(send(address, request).status, 200); });
        } else {
          EXPECT_EQ(send(address, request).status, 200);
        }
      }
      for (auto& thread : threads) thread.join();
      if (!std::ranges::next_permutation(order).found) std::ranges::sort(order);
    }
    drain();
    for (int n = 0; n < repetitions; ++n)
      check_payment(expect().at("payment"), "\\_" + std::to_string(n));
  }

  static int factorial(std::size_t n) { return n < 2 ? 1 : static_cast<int>(n) * factorial(n - 1); }
  void run_every_order() {
    run_sequence(false, std::min(120, factorial(events_with_precondition().size())));
  }

  json case_;
};

#define REQUESTS_CASE(test_name, id) \
  TEST_F(OpenCasesTest, test_name) { \
    load(id);                        \
    if (is_loaded()) run_requests(); \
  }

#define ORDERS_CASE(test_name, id)      \
  TEST_F(OpenCasesTest, test_name) {    \
    load(id);                           \
    if (is_loaded()) run_every_order(); \
  }

REQUESTS_CASE(ADY001ColonsAreNotEscaped, "ADY-001")
REQUESTS_CASE(ADY004AbsentEmptyAndNullFields, "ADY-004")
REQUESTS_CASE(ADY009AMissingSignatureIsARefusal, "ADY-009")
REQUESTS_CASE(DBX001NulEscapesInStrings, "DBX-001")
REQUESTS_CASE(DUP004SameIdFromOtherSources, "DUP-004")
REQUESTS_CASE(SIG001TheExactBytes, "SIG-001")
REQUESTS_CASE(SIG002AnyOfSeveralSignatures, "SIG-002")
REQUESTS_CASE(SIG005MalformedHeaders, "SIG-005")
REQUESTS_CASE(SIG010SignaturesOfTheWrongLength, "SIG-010")
REQUESTS_CASE(SIG012MultiByteText, "SIG-012")
REQUESTS_CASE(ORD006AClosedOfferOfAnotherAttempt, "ORD-006")
ORDERS_CASE(ORD001AnOldFailureAfterTheSuccess, "ORD-001")
ORDERS_CASE(ORD002AFailureDoesNotLockOutTheSuccess, "ORD-002")
ORDERS_CASE(ORD003SeveralEventsInOneSecond, "ORD-003")
ORDERS_CASE(ORD011ADisputeAfterARefund, "ORD-011")
ORDERS_CASE(ORD013TheReleasedRestIsNoRefund, "ORD-013")

TEST_F(OpenCasesTest, ADY005TheKeyIsHex) {
  load("ADY-005");
  if (!is_loaded()) return;
  const auto& variants = given()["config_variants"];
  for (std::size_t i = 0; i < variants.size(); ++i) {
    stop_gateways();
    const auto text = config(sources(variants[i]["secret"]));
    const auto& wanted = expect()["per_variant"][i];
    if (wanted.contains("start")) {
      EXPECT_THROW(parse_config(text, "case.toml"), ConfigError) << "variant " << i + 1;
      continue;
    }
    expect_status(wanted, send(start_gateway(text), case_request(given()["requests"][0])).status,
                  "variant");
  }
}

TEST_F(OpenCasesTest, ADY007OneForgedItemRefusesTheBatch) {
  load("ADY-007");
  if (!is_loaded()) return;
  const auto address = start();
  for (std::size_t i = 0; i < given()["requests"].size(); ++i) {
    const auto answer = send(address, case_request(given()["requests"][i]));
    expect_status(expect()["per_request"][i], answer.status, "request " + std::to_string(i + 1));
    drain();
    if (i == 0) {
      EXPECT_EQ(database().count("hookgate.events"), 0);
    }
  }
  for (const auto& [item, count] : expect()["effects_per_item_total"].items()) {
    EXPECT_EQ(effects("event_id LIKE '%" + item + "%'"), count.get<int>()) << item;
  }
}

TEST_F(OpenCasesTest, ADY011OtherTypes) {
  load("ADY-011");
  if (!is_loaded()) return;
  const auto address = start();
  const auto& wanted = expect()["per_request"];
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto answer = send(address, case_request(given()["requests"][i]));
    expect_status(wanted[i], answer.status, "request " + std::to_string(i + 1));
    drain();
    if (answer.status == 200) continue;
    EXPECT_EQ(database().count("hookgate.events"), database().count("effects"));
  }
  // The fifth is the greatest 64-bit amount: taken exactly. The last is a refused payment.
  EXPECT_EQ(database().count("hookgate.payments WHERE amount_authorized = 9223372036854775807"), 1);
  EXPECT_EQ(database().count("hookgate.payments WHERE status = 'failed' AND amount_captured = 0"),
            1);
}

TEST_F(OpenCasesTest, ACK002OtherTypesAreTakenAndNeverDead) {
  load("ACK-002");
  if (!is_loaded()) return;
  run_requests();
  EXPECT_EQ(database().count("hookgate.events"),
            static_cast<std::int64_t>(given()["requests"].size()));
  EXPECT_EQ(database().count("hookgate.events WHERE status NOT IN ('done', 'ignored')"), 0);
}

TEST_F(OpenCasesTest, SIG006ATestEventOnALiveSource) {
  load("SIG-006");
  if (is_loaded()) run_requests("live = true");
}

TEST_F(OpenCasesTest, SIG011OnePrefixTwoMeanings) {
  load("SIG-011");
  if (!is_loaded()) return;
  const auto secret = given()["secret"].get<std::string>();
  const auto address =
      start_gateway(config(source_block("stripe", "stripe", {secret}) +
                           source_block("standard", "standard-webhooks", {secret})));
  send_requests(address, given()["requests"], expect());
}

TEST_F(OpenCasesTest, SIG016RotationWithoutARestart) {
  load("SIG-016");
  if (!is_loaded()) return;
  const auto address = start();
  send_requests(address, given()["requests"], expect());
  auto secrets = secrets_of(given()["secret"]);
  secrets.erase(secrets.begin());
  ASSERT_TRUE(
      app().reload(parse_config(config(source_block("adyen", "adyen", secrets)), "case.toml")));
  send_requests(address, given()["after"], {{"per_request", expect()["after"]}});
}

TEST_F(OpenCasesTest, DUP001FiftyCopiesAtOnce) {
  load("DUP-001");
  if (!is_loaded()) return;
  const std::vector<std::string> addresses{start("", 8), start("", 8)};
  const auto request = case_request(given()["fault_script"][1]["request"]);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 50; ++i) {
    threads.emplace_back([&, i] {
      expect_status(expect()["all_requests"], send(addresses[i % 2], request).status, "copy");
    });
  }
  for (auto& thread : threads) thread.join();
  check_totals();
}

TEST_F(OpenCasesTest, DUP002AcrossInstancesAndARestart) {
  load("DUP-002");
  if (!is_loaded()) return;
  const auto first = start();
  const auto second = start();
  const auto& script = given()["fault_script"];
  EXPECT_EQ(send(first, case_request(script[1]["request"])).status, 200);
  EXPECT_EQ(send(second, case_request(script[2]["request"])).status, 200);
  stop_gateways();
  const auto third = start();
  EXPECT_EQ(send(third, case_request(script[5]["request"])).status, 200);
  check_totals();
}

TEST_F(OpenCasesTest, DUP003OnePaymentThreeIdsAtTheSameTime) {
  load("DUP-003");
  if (!is_loaded()) return;
  constexpr int kRepetitions = 200;
  run_sequence(true, kRepetitions);
  EXPECT_EQ(database().count("hookgate.payments"), kRepetitions);
  EXPECT_EQ(database().count("hookgate.payment_milestones WHERE milestone = 'captured'"),
            kRepetitions);
}

TEST_F(OpenCasesTest, DUP005AnAdyenDuplicateWithOtherDetails) {
  load("DUP-005");
  if (!is_loaded()) return;
  run_requests();
  check_payment(expect()["payment"]);
}

TEST_F(OpenCasesTest, DUP007FalseThenTrueUnderOneReference) {
  load("DUP-007");
  if (!is_loaded()) return;
  in_every_order([&] {
    EXPECT_EQ(database().count("hookgate.events"), expect()["events_stored_total"].get<int>());
    check_payment(expect()["payment"]);
  });
}

TEST_F(OpenCasesTest, DUP013ARedeliveryAfterDays) {
  load("DUP-013");
  if (!is_loaded()) return;
  const auto address = start();
  for (const auto& step : given()["fault_script"]) {
    const auto what = step["do"].get<std::string>();
    if (what == "send") {
      EXPECT_EQ(send(address, case_request(step["request"])).status, 200);
    }
    if (what == "drain") drain();
    if (what == "set_clock") set_clock(step["to"].get<long long>());
    if (what == "run") app().run_maintenance();
  }
  check_totals();
}

TEST_F(OpenCasesTest, DUP014TwoEventsAboutOneRefundAtOnce) {
  load("DUP-014");
  if (!is_loaded()) return;
  // The precondition of this case names its payment; the events reach the same one in parallel.
  constexpr int kRepetitions = 200;
  run_sequence(true, kRepetitions);
  EXPECT_EQ(database().count("hookgate.payment_facts WHERE kind = 'refund'"), kRepetitions);
  EXPECT_EQ(database().count("hookgate.payment_milestones WHERE milestone = 'refunded'"),
            kRepetitions);
}

TEST_F(OpenCasesTest, DUP017AHarmlessDifferenceAndARealConflict) {
  load("DUP-017");
  if (!is_loaded()) return;
  run_requests();
  auto wanted = expect()["payment"];
  wanted["flags"] = {"needs_review"};
  check_payment(wanted);
  EXPECT_EQ(database().count("hookgate.conflicts"), 1);
}

TEST_F(OpenCasesTest, ORD004ASuccessBetweenTwoFailures) {
  load("ORD-004");
  if (!is_loaded()) return;
  in_every_order([&] {
    for (const auto& [id, wanted] : expect()["payments"].items()) {
      EXPECT_EQ(compare_payment(database(), id, wanted), "");
    }
  });
}

TEST_F(OpenCasesTest, ORD005TheEventBeforeItsPayment) {
  load("ORD-005");
  if (!is_loaded()) return;
  const auto address = start();
  for (const auto& step : given()["fault_script"]) {
    if (step["do"] == "send") {
      EXPECT_EQ(send(address, case_request(step["request"])).status, 200);
    }
    drain(10);
  }
  check_payment(expect()["payment"]);
  EXPECT_EQ(database().count("hookgate.events WHERE status = 'dead'"), 0);
}

TEST_F(OpenCasesTest, ORD008SeveralPartialRefunds) {
  load("ORD-008");
  if (!is_loaded()) return;
  const auto address = start();
  const auto events = events_with_precondition();
  const auto maker = abstract();
  EXPECT_EQ(send(address, maker.request(events[0])).status, 200);
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_EQ(send(address, maker.request(events[i])).status, 200);
    drain();
    check_payment(expect()["after_each"][i - 1]);
  }
}

TEST_F(OpenCasesTest, ORD018ARefundThatFailedLater) {
  load("ORD-018");
  if (!is_loaded()) return;
  in_every_order([&] {
    check_payment(expect()["payment"]);
    EXPECT_EQ(database().count("hookgate.payment_milestones WHERE milestone = 'refund_failed'"), 1);
  });
}

TEST_F(OpenCasesTest, ORD019MinorUnits) {
  load("ORD-019");
  if (!is_loaded()) return;
  for (std::size_t i = 0; i < given()["items"].size(); ++i) {
    const auto& item = given()["items"][i];
    EXPECT_EQ(decimal_amount(item[0].get<std::string>(), item[1].get<std::string>(),
                             item[2].get<std::int64_t>()),
              expect()["decimal_shown"][i].get<std::string>())
        << item;
  }
}

TEST_F(OpenCasesTest, ORD020TheRefundToldByOneTypeOnly) {
  load("ORD-020");
  if (!is_loaded()) return;
  const auto address = start();
  const json refund{
      {"id", "re_1"},   {"object", "refund"}, {"charge", "ch_1"},     {"payment_intent", "pi_1"},
      {"amount", 1000}, {"currency", "eur"},  {"status", "succeeded"}};
  const json charge{{"id", "ch_1"},     {"object", "charge"},      {"payment_intent", "pi_1"},
                    {"amount", 1000},   {"amount_captured", 1000}, {"amount_refunded", 1000},
                    {"captured", true}, {"currency", "eur"}};
  const auto event = [](const std::string& type, const json& object) {
    return json{
        {"event_id", "evt_" + type}, {"type", type}, {"created", 1699995000}, {"object", object}};
  };
  const std::vector<json> told{event("charge.refunded", charge), event("refund.created", refund),
                               event("refund.updated", refund),
                               event("charge.refund.updated", refund)};
  const json before{{"id", "pi_1"}, {"object", "payment_intent"}};
  std::vector<std::vector<json>> variants{{told[0]},
                                          {told[1]},
                                          {told[2]},
                                          {told[3]},
                                          {told[0], told[1], told[2], told[3]},
                                          {told[3], told[2], told[1], told[0]},
                                          {told[2], told[0], told[3], told[1]}};
  for (std::size_t n = 0; n < variants.size(); ++n) {
    const auto maker = abstract("_" + std::to_string(n));
    EXPECT_EQ(send(address, maker.request(precondition(before, 1000))).status, 200);
    for (const auto& one : variants[n]) EXPECT_EQ(send(address, maker.request(one)).status, 200);
  }
  drain();
  for (std::size_t n = 0; n < variants.size(); ++n) {
    check_payment(expect()["each_variant"]["payment"], "\\_" + std::to_string(n));
  }
}

// A case of these kinds that nobody runs would be a hole that looks like a pass.
TEST(OpenCasesCoverageTest, NamesEveryCaseOfTheKindsItIsFor) {
  const auto shared = shared_folder();
  if (!shared) GTEST_SKIP() << "the shared cases are not here";
  const std::set<std::string> kinds{"signature", "adyen_hmac", "dedup",   "ordering",
                                    "state",     "disputes",   "amounts", "encoding",
                                    "race",      "queue",      "ack",     "db_fault"};
  // Ten minutes long, and about rates: bench/handled/held_transaction does it.
  std::set<std::string> tests{"QUE006"};
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i) {
    const auto& suite = *unit.GetTestSuite(i);
    if (!std::set<std::string>{"OpenCasesTest", "FaultCasesTest", "WakeUpTest", "OwnServerTest",
                               "LostConnectionTest"}
             .contains(suite.name()))
      continue;
    for (int n = 0; n < suite.total_test_count(); ++n)
      tests.insert(std::string{suite.GetTestInfo(n)->name()}.substr(0, 6));
  }
  for (const auto& file : std::filesystem::directory_iterator(*shared / "cases/open")) {
    if (file.path().extension() != ".json" || file.path().stem() == "sequences") continue;
    const auto one = read_json(file.path());
    if (!kinds.contains(one.at("kind"))) continue;
    auto name = one.at("id").get<std::string>();
    std::erase(name, '-');
    EXPECT_TRUE(tests.contains(name)) << one.at("id");
  }
}

}  // namespace
}  // namespace hookgate
