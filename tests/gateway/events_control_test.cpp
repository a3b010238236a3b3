#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "gateway_support.h"

namespace hookgate {
namespace {

// The commands as an operator types them, beside a gateway that runs.
class EventsControlTest : public GatewayTest {
 protected:
  void SetUp() override {
    GatewayTest::SetUp();
    if (IsSkipped()) return;
    config_ = std::filesystem::path{::testing::TempDir()} /
              ("events_control_" + std::to_string(::getpid()) + ".toml");
    std::ofstream{config_} << test_config(database().url());
    address_ = start_gateway();
  }
  void TearDown() override {
    std::filesystem::remove(config_);
    GatewayTest::TearDown();
  }

  void deliver(const std::string& id) {
    const auto stripe = test_provider("stripe", kStripeSecret);
    EXPECT_EQ(send(address_,
                   signed_request(*stripe, "stripe", stripe_event(id, "x.y", "{}"), system_now()))
                  .status,
              200);
    drain();
  }
  void kill_event(const std::string& id) {
    database().execute(
        "UPDATE hookgate.events SET status = 'dead', finished = 'counting!', done_at = NULL WHERE "
        "event_id = '" +
        id + "'");
  }

  struct Ended {
    int code;
    std::string output;
  };
  Ended run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "events");
    arguments.insert(arguments.end(), {"--config", config_.string()});
    GatewayProcess process{arguments};
    const int code = process.wait(30);
    return {code, process.output()};
  }

 private:
  std::filesystem::path config_;
  std::string address_;
};

TEST_F(EventsControlTest, ARetryRunsTheHandlerThatGaveUpAtOnce) {
  deliver("evt_1");
  kill_event("evt_1");
  EXPECT_EQ(run({"retry", "--dead", "--dry-run"}).output, "would retry 1 event\n");
  EXPECT_EQ(run({"retry", "--dead"}).output, "retried 1 event\n");
  drain(10);
  EXPECT_EQ(effects(), 2);  // the first run's, and the retry's
  EXPECT_EQ(run({"retry", "--dead"}).output, "retried 0 events\n");
}

// An operator's second thought must not charge anybody twice.
TEST_F(EventsControlTest, ARetryOfADoneEventHasNoEffect) {
  deliver("evt_1");
  const auto refused = run({"retry", "evt_1"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.output.find("is done; not retried"), std::string::npos) << refused.output;
  EXPECT_EQ(run({"retry", "evt_1", "--force"}).code, 0);
  drain(10);
  EXPECT_EQ(effects(), 1);
}

TEST_F(EventsControlTest, ADiscardedEventStaysADuplicate) {
  deliver("evt_1");
  kill_event("evt_1");
  const auto json = nlohmann::json::parse(run({"discard", "evt_1", "--json"}).output);
  EXPECT_EQ(json["discarded"], 1);
  deliver("evt_1");
  EXPECT_EQ(database().value("SELECT status || deliveries FROM hookgate.events"), "discarded2");
}

TEST_F(EventsControlTest, RefusesToTakeEverythingAndWhatContradictsItself) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"retry"},
                                                    {"discard", "--limit", "5"},
                                                    {"retry", "--status", "done"},
                                                    {"discard", "--status", "done"},
                                                    {"retry", "--dead", "--status", "discarded"},
                                                    {"retry", "evt_1", "--limit", "2"},
                                                    {"retry", "--status", "nonsense"}}) {
    EXPECT_EQ(run(arguments).code, 2) << ::testing::PrintToString(arguments);
  }
  EXPECT_EQ(run({"retry", "evt_unknown"}).code, 1);
}

}  // namespace
}  // namespace hookgate
