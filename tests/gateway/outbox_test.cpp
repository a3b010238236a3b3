#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "gateway_support.h"
#include "metrics_text.h"
#include "receiver.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// Whole processes of the gateway, and a receiver of what they forward.
class OutboxGatewayTest : public GatewayTest {
 protected:
  void SetUp() override {
    GatewayTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    folder_ = testing::TempDir() + "hookgate-forward-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    GatewayTest::TearDown();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::string config_for(const std::string& url, const std::string& more = "") {
    auto source = source_block("stripe", "stripe", {kStripeSecret});
    const std::string payments = "[\"payments\"]";
    source.replace(source.find(payments), payments.size(), "[\"payments\", \"crm\"]");
    return test_config(database().url(), 2,
                       source + "[[handler]]\nname = \"crm\"\nkind = \"forward\"\nurl = \"" + url +
                           "\"\nsecret = \"" + kStandardSecret + "\"\n" + more);
  }
  std::string write_config(const std::string& text) {
    auto path = folder_ + "/hookgate.toml";
    std::ofstream{path} << text;
    return path;
  }
  int deliver(const std::string& address, const std::string& id) {
    return send(address, signed_request(*test_provider("stripe", kStripeSecret), "stripe",
                                        stripe_event(id, "charge.expired",
                                                     R"({"id":"ch_1","object":"charge"})"),
                                        system_now()))
        .status;
  }
  bool eventually(const std::function<bool()>& condition) {
    const auto deadline = steady_clock::now() + seconds{30};
    while (!condition()) {
      if (steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(milliseconds{20});
    }
    return true;
  }
  bool becomes(const std::string& status) {
    return eventually(
        [&] { return database().count("hookgate.outbox WHERE status = '" + status + "'") == 1; });
  }
  struct Run {
    int code = -1;
    std::string output;
  };
  Run hookgate(std::vector<std::string> arguments) {
    GatewayProcess process{arguments};
    const auto code = process.wait(30);
    return {code, process.output()};
  }

  std::string folder_;
};

TEST_F(OutboxGatewayTest, ForwardsAnEventSigned) {
  Receiver receiver;
  const auto address = start_gateway(config_for(receiver.url()));
  ASSERT_EQ(deliver(address, "evt_1"), 200);
  ASSERT_TRUE(receiver.wait_for(1));
  const auto request = receiver.requests().at(0);
  EXPECT_EQ(request.body,
            stripe_event("evt_1", "charge.expired", R"({"id":"ch_1","object":"charge"})"));
  EXPECT_TRUE(std::holds_alternative<Verified>(
      test_provider("standard-webhooks", kStandardSecret)->verify(request, system_now())));
  EXPECT_EQ(header_of(request, "Content-Type"), "application/json; charset=utf-8");
  EXPECT_EQ(header_of(request, "webhook-id").find("evt_1"), std::string::npos);
  EXPECT_TRUE(becomes("sent"));
}

// The poll alone would take about a second for each.
TEST_F(OutboxGatewayTest, ForwardsAtOnce) {
  Receiver receiver;
  const auto address = start_gateway(config_for(receiver.url()));
  const auto began = steady_clock::now();
  for (std::size_t i = 1; i <= 10; ++i) {
    ASSERT_EQ(deliver(address, "evt_" + std::to_string(i)), 200);
    ASSERT_TRUE(receiver.wait_for(i));
  }
  EXPECT_LT(steady_clock::now() - began, seconds{5});
}

TEST_F(OutboxGatewayTest, CountsItsTries) {
  Receiver receiver;
  const auto address = start_gateway(config_for(receiver.url()));
  ASSERT_EQ(deliver(address, "evt_1"), 200);
  const auto sends = [&](const std::string& outcome) {
    InboundRequest scrape;
    scrape.method = "GET";
    scrape.target = "/metrics";
    return MetricsText{send(app().admin_address(), scrape).body}.value(
        "hookgate_outbox_sends_total{destination=\"crm\",outcome=\"" + outcome + "\"}");
  };
  EXPECT_TRUE(eventually([&] { return sends("sent") == 1; }));
  EXPECT_EQ(sends("dead"), 0);
}

TEST_F(OutboxGatewayTest, ForwardsADuplicateOnce) {
  Receiver receiver;
  const auto address = start_gateway(config_for(receiver.url()));
  for (int i = 0; i < 5; ++i) ASSERT_EQ(deliver(address, "evt_1"), 200);
  ASSERT_EQ(deliver(address, "evt_2"), 200);
  ASSERT_TRUE(receiver.wait_for(2));
  drain();
  EXPECT_EQ(database().count("hookgate.outbox"), 2);
  EXPECT_EQ(receiver.requests().size(), 2U);
}

// The receiver took the message, and the gateway is killed before it could write that down.
TEST_F(OutboxGatewayTest, SendsTheSameKeyAgainWhenItWasKilledBeforeItCouldRecord) {
  std::atomic<bool> is_gone = false;
  Receiver receiver{[&](const InboundRequest&, std::size_t number) {
    // The answer is kept until the sender is dead, and then goes nowhere.
    while (number == 1 && !is_gone) std::this_thread::sleep_for(milliseconds{5});
    return Answer{204, "", "", {}};
  }};
  const auto config = write_config(config_for(receiver.url()));
  {
    GatewayProcess first{{"serve", "--config", config}};
    ASSERT_EQ(deliver(first.public_address(), "evt_1"), 200);
    ASSERT_TRUE(receiver.wait_for(1));
    first.kill_now();
    is_gone = true;
  }
  EXPECT_EQ(database().value("SELECT status || ' ' || attempts FROM hookgate.outbox"), "pending 1");
  GatewayProcess second{{"serve", "--config", config}};
  ASSERT_TRUE(receiver.wait_for(2, seconds{15}));  // long before the lease would have ended
  const auto requests = receiver.requests();
  EXPECT_EQ(header_of(requests.at(0), "webhook-id"), header_of(requests.at(1), "webhook-id"));
  EXPECT_EQ(header_of(requests.at(0), "Idempotency-Key"),
            header_of(requests.at(1), "Idempotency-Key"));
  EXPECT_EQ(requests.at(0).body, requests.at(1).body);
  EXPECT_TRUE(becomes("sent"));
  EXPECT_EQ(second.terminate(), 0);
}

TEST_F(OutboxGatewayTest, FinishesATryUnderWayWhenItIsTerminated) {
  std::promise<void> open;
  auto opened = open.get_future().share();
  Receiver receiver{[&](const InboundRequest&, std::size_t) {
    opened.wait();
    return Answer{204, "", "", {}};
  }};
  GatewayProcess gateway{{"serve", "--config", write_config(config_for(receiver.url()))}};
  ASSERT_EQ(deliver(gateway.public_address(), "evt_1"), 200);
  ASSERT_TRUE(receiver.wait_for(1));
  ::kill(gateway.pid(), SIGTERM);
  EXPECT_TRUE(eventually([&] { return gateway.output().find("draining") != std::string::npos; }));
  open.set_value();
  EXPECT_EQ(gateway.wait(30), 0);
  EXPECT_EQ(database().value("SELECT status FROM hookgate.outbox"), "sent");
}

TEST_F(OutboxGatewayTest, AMessageThatDiedIsRetriedByAnOperator) {
  std::atomic<int> status = 500;
  Receiver receiver{[&](auto&, auto) { return Answer{status.load(), "", "", {}}; }};
  const auto text = config_for(receiver.url(), "max_attempts = 1\n");
  const auto config = write_config(text);
  const auto address = start_gateway(text);
  ASSERT_EQ(deliver(address, "evt_1"), 200);
  ASSERT_TRUE(becomes("dead"));
  const auto id = database().value("SELECT id FROM hookgate.outbox");

  const auto list = hookgate({"outbox", "list", "--config", config, "--json"});
  EXPECT_EQ(list.code, 0);
  const auto json = nlohmann::json::parse(list.output);
  EXPECT_EQ(json["status"], "dead");
  EXPECT_EQ(json["last_error"], "HTTP 500");
  EXPECT_EQ(json["destination"], "crm");
  EXPECT_NE(hookgate({"outbox", "list", "--config", config}).output.find("HTTP 500"),
            std::string::npos);

  const auto dry = hookgate({"outbox", "retry", "--dead", "--dry-run", "--config", config});
  EXPECT_EQ(dry.output, "1 dead message would be retried\n");
  EXPECT_EQ(database().value("SELECT status FROM hookgate.outbox"), "dead");

  status = 204;
  const auto retry = hookgate({"outbox", "retry", id, "--config", config});
  EXPECT_EQ(retry.code, 0);
  EXPECT_EQ(retry.output, "message " + id + " to crm retried\n");
  EXPECT_TRUE(becomes("sent"));
  const auto requests = receiver.requests();
  EXPECT_EQ(header_of(requests.front(), "webhook-id"), header_of(requests.back(), "webhook-id"));

  const auto again = hookgate({"outbox", "retry", id, "--config", config});
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(again.output, "hookgate: message " + id + " cannot be retried: it is sent\n");
}

TEST_F(OutboxGatewayTest, TheCommandsExitAsAllDo) {
  const auto config = write_config(config_for("http://127.0.0.1:1/"));
  EXPECT_EQ(hookgate({"outbox", "list", "--config", config}).output, "no messages\n");
  EXPECT_EQ(hookgate({"outbox", "discard", "99", "--config", config}).code, 1);
  EXPECT_EQ(hookgate({"outbox", "discard", "--config", config}).code, 2);
  EXPECT_EQ(hookgate({"outbox", "discard", "1", "--dead", "--config", config}).code, 2);
  EXPECT_EQ(hookgate({"outbox", "retry", "1", "--destination", "crm", "--config", config}).code, 2);
  EXPECT_EQ(hookgate({"outbox", "list", "--status", "lost", "--config", config}).code, 2);
  EXPECT_EQ(hookgate({"outbox", "retry", "--dead", "--config", config}).code, 0);
  auto away = config_for("http://127.0.0.1:1/");
  const auto from = away.find("url = \"");
  away.replace(from, away.find('\n', from) - from,
               "url = \"host=/nonexistent dbname=hookgate connect_timeout=2\"");
  EXPECT_EQ(hookgate({"outbox", "list", "--config", write_config(away)}).code, 3);
}

}  // namespace
}  // namespace hookgate
