// The public JSON test suite as bodies of webhooks, through a whole gateway: what is authentic is
// kept byte for byte, whatever it is, and nothing of it troubles what comes next.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "case_support.h"
#include "crypto/encoding.h"

namespace hookgate {
namespace {

struct SuiteFile {
  std::string name;
  std::string text;

  bool must_be_refused() const { return name.starts_with("n_"); }
};

struct StoredEvent {
  std::string status;
  std::string last_error;
};

std::vector<SuiteFile> read_suite(const std::filesystem::path& folder) {
  std::vector<SuiteFile> files;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    std::ifstream file{entry.path(), std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    files.push_back({entry.path().filename().string(), std::move(text)});
  }
  // Too large for the suite's copy.
  std::string tower;
  for (int i = 0; i < 50'000; ++i) tower += "[{\"\":";
  files.push_back({"n_structure_open_array_object.json", tower + "\n"});
  std::ranges::sort(files, {}, &SuiteFile::name);
  return files;
}

class JsonSuiteTest : public GatewayTest {
 protected:
  void SetUp() override {
    const auto shared = shared_folder();
    const auto folder =
        shared.value_or(std::filesystem::path{}) / "cases" / "json-test-suite" / "test_parsing";
    if (!std::filesystem::is_directory(folder)) {
      GTEST_SKIP() << "no JSON test suite here; set HOOKGATE_SHARED";
    }
    GatewayTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    files_ = read_suite(folder);
    address_ = start_gateway();
    session_ = std::make_unique<HttpSession>(address_);
  }
  void TearDown() override {
    session_.reset();
    if (!files_.empty()) GatewayTest::TearDown();
  }

  // The stored events by their body.
  std::map<std::string, StoredEvent> stored() {
    drain();
    const auto result = database().execute(
        "SELECT encode(body, 'hex'), status, last_error "
        "FROM hookgate.events JOIN hookgate.event_bodies ON event = id");
    std::map<std::string, StoredEvent> events;
    for (const auto& row : result.rows) {
      events[hex_decode(row[0].value()).value()] = {row[1].value(), row[2].value_or("")};
    }
    return events;
  }

  // That each file is stored with its very bytes, and dead if it is no JSON.
  void expect_all_stored() {
    const auto events = stored();
    for (const auto& file : files_) {
      if (file.text.empty()) continue;
      const auto event = events.find(file.text);
      ASSERT_NE(event, events.end()) << file.name;
      if (!file.must_be_refused()) continue;
      EXPECT_EQ(event->second.status, "dead") << file.name;
      EXPECT_EQ(event->second.last_error.substr(0, 18), "body is not JSON: ") << file.name;
    }
  }

  void expect_that_a_good_event_still_works() {
    const auto body = stripe_event(
        "evt_good", "payment_intent.succeeded",
        R"({"id":"pi_good","object":"payment_intent","amount":7,"amount_received":7,"currency":"eur","status":"succeeded"})");
    EXPECT_EQ(session_->send(signed_request(*stripe_, "stripe", body, system_now())).status, 200);
    drain();
    EXPECT_EQ(effects("event_id = 'evt_good'"), 1);
    EXPECT_EQ(database().value(
                  "SELECT amount_captured FROM hookgate.payments WHERE payment_id = 'pi_good'"),
              "7");
  }

  std::vector<SuiteFile> files_;
  std::string address_;
  std::unique_ptr<HttpSession> session_;
  std::unique_ptr<Provider> stripe_ = test_provider("stripe", kStripeSecret);
  std::unique_ptr<Provider> standard_ = test_provider("standard-webhooks", kStandardSecret);
};

TEST_F(JsonSuiteTest, KeepsEveryAuthenticStripeBody) {
  for (const auto& file : files_) {
    const auto request = signed_request(*stripe_, "stripe", file.text, system_now());
    EXPECT_EQ(session_->send(request).status, file.text.empty() ? 400 : 200) << file.name;
  }
  expect_all_stored();
  expect_that_a_good_event_still_works();
}

TEST_F(JsonSuiteTest, KeepsEveryAuthenticStandardWebhooksBody) {
  int number = 0;
  for (const auto& file : files_) {
    InboundRequest request;
    request.method = "POST";
    request.target = "/webhooks/standard";
    request.headers.push_back({"webhook-id", "msg_suite_" + std::to_string(++number)});
    request.body = file.text;
    standard_->sign(request, system_now());
    EXPECT_EQ(session_->send(request).status, 200) << file.name;
  }
  expect_all_stored();
  expect_that_a_good_event_still_works();
}

// The signature is inside the body: what cannot be read cannot be judged.
TEST_F(JsonSuiteTest, RefusesEveryFileAsAnAdyenBodyAndStoresNothing) {
  for (const auto& file : files_) {
    InboundRequest request;
    request.method = "POST";
    request.target = "/webhooks/adyen";
    request.body = file.text;
    const auto status = session_->send(request).status;
    EXPECT_TRUE(status == 400 || status == 401) << file.name << ": " << status;
  }
  EXPECT_EQ(database().count("hookgate.events"), 0);
  EXPECT_EQ(database().count("hookgate.event_bodies"), 0);
  expect_that_a_good_event_still_works();
}

}  // namespace
}  // namespace hookgate
