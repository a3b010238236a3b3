#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include <httplib.h>
#include <unistd.h>

#include "config.h"
#include "dev/private_postgres.h"
#include "gateway_support.h"
#include "metrics_text.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr auto kOldSecret = "whsec_invented_for_tests_only_0002";
constexpr auto kToken = "invented-admin-token-for-tests";

MetricsText scrape(const App& app) {
  InboundRequest request;
  request.method = "GET";
  request.target = "/metrics";
  return MetricsText{send(app.admin_address(), request).body};
}

std::string charge(int amount) {
  return stripe_event("evt_charge_1", "charge.expired",
                      R"({"id":"ch_1","object":"charge","amount":)" + std::to_string(amount) + "}");
}

std::string with_token(std::string config) {
  const std::string admin = "[admin]\n";
  config.insert(config.find(admin) + admin.size(), std::string{"token = \""} + kToken + "\"\n");
  return config;
}

class MetricsPageTest : public GatewayTest {
 protected:
  std::string stripe_config() {
    return test_config(database().url(), 2,
                       source_block("stripe", "stripe", {kStripeSecret, kOldSecret}));
  }
  InboundRequest signed_with(const std::string& secret, const std::string& body) {
    return signed_request(*test_provider("stripe", secret), "stripe", body, system_now());
  }
  // What happens after an answer can only be polled for.
  bool eventually(const std::string& series, double value) {
    const auto deadline = steady_clock::now() + seconds{10};
    while (scrape(app()).value(series) != value) {
      if (steady_clock::now() > deadline) return false;
    }
    return true;
  }
};

TEST_F(MetricsPageTest, CountsEveryAnswerExactly) {
  const auto address = start_gateway(stripe_config());
  const auto began = std::chrono::system_clock::now();
  auto forged = signed_with(kStripeSecret, charge(1));
  forged.body += " ";
  auto malformed = signed_with(kStripeSecret, charge(1));
  for (auto& header : malformed.headers) {
    if (header.name == "Stripe-Signature") header.value = "t=soon,v1=xyz";
  }
  auto unknown = signed_with(kStripeSecret, charge(1));
  unknown.target = "/webhooks/nobody";
  auto read = signed_with(kStripeSecret, "");
  read.method = "GET";

  EXPECT_EQ(send(address, signed_with(kStripeSecret, charge(1))).status, 200);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(send(address, signed_with(kOldSecret, charge(1))).status, 200);
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(send(address, signed_with(kStripeSecret, charge(2))).status, 200);
  }
  for (int i = 0; i < 2; ++i) EXPECT_EQ(send(address, forged).status, 401);
  EXPECT_EQ(send(address, malformed).status, 400);
  EXPECT_EQ(send(address, unknown).status, 404);
  EXPECT_EQ(send(address, read).status, 405);

  const auto text = scrape(app());
  EXPECT_EQ(text.faults(), std::vector<std::string>{});
  const auto requests = [&](const std::string& source, int status) {
    return text.value("hookgate_requests_total{source=\"" + source + "\",status=\"" +
                      std::to_string(status) + "\"}");
  };
  EXPECT_EQ(requests("stripe", 200), 6);
  EXPECT_EQ(requests("stripe", 401), 2);
  EXPECT_EQ(requests("stripe", 400), 1);
  EXPECT_EQ(requests("stripe", 405), 1);
  EXPECT_EQ(requests("stripe", 503), 0);
  EXPECT_EQ(requests("", 404), 1);
  EXPECT_EQ(text.value("hookgate_request_seconds_count"), 11);
  const auto events = [&](const std::string& outcome) {
    return text.value("hookgate_events_total{outcome=\"" + outcome + "\",source=\"stripe\"}");
  };
  EXPECT_EQ(events("accepted"), 1);
  EXPECT_EQ(events("duplicate"), 3);
  EXPECT_EQ(events("conflict"), 2);
  EXPECT_EQ(events("rejected"), 3);
  const auto rejections = [&](const std::string& reason) {
    return text.value("hookgate_rejections_total{reason=\"" + reason + "\",source=\"stripe\"}");
  };
  EXPECT_EQ(rejections("signature-mismatch"), 2);
  EXPECT_EQ(rejections("signature-malformed") + rejections("timestamp-malformed"), 1);
  EXPECT_EQ(rejections("signature-missing"), 0);
  EXPECT_EQ(text.value(R"(hookgate_secret_matches_total{secret="0",source="stripe"})"), 3);
  EXPECT_EQ(text.value(R"(hookgate_secret_matches_total{secret="1",source="stripe"})"), 3);
  EXPECT_NEAR(text.value(R"(hookgate_last_event_timestamp_seconds{source="stripe"})"),
              std::chrono::duration<double>(began.time_since_epoch()).count(), 30);
  EXPECT_EQ(text.value("hookgate_commit_seconds_count"), 6);
  EXPECT_EQ(text.value("hookgate_commit_batch_size_sum"), 6);
  for (const auto* stage : {"verify", "commit_wait", "commit"}) {
    EXPECT_GE(text.value(std::string{"hookgate_stage_seconds_count{stage=\""} + stage + "\"}"), 6);
  }
}

TEST_F(MetricsPageTest, CountsTheRunsOfHandlers) {
  const auto address = start_gateway(stripe_config());
  EXPECT_EQ(
      scrape(app()).value(R"(hookgate_handler_runs_total{handler="payments",outcome="gave_up"})"),
      0);
  EXPECT_EQ(send(address, signed_with(kStripeSecret, charge(1))).status, 200);
  EXPECT_TRUE(eventually(R"(hookgate_handler_runs_total{handler="counting",outcome="done"})", 1));
  EXPECT_EQ(scrape(app()).value(R"(hookgate_handler_seconds_count{handler="counting"})"), 1);
}

TEST_F(MetricsPageTest, ShowsTheBacklog) {
  auto config = stripe_config();
  config.replace(config.find("count = 2"), 9, "count = 0");  // nobody works on it
  const auto address = start_gateway(config);
  EXPECT_EQ(send(address, signed_with(kStripeSecret, charge(1))).status, 200);
  EXPECT_EQ(send(address, signed_with(kStripeSecret, "no JSON")).status, 200);
  database().execute("UPDATE hookgate.events SET received_at = now() - interval '1 hour'");
  EXPECT_TRUE(eventually("hookgate_events_pending", 1));
  EXPECT_TRUE(eventually("hookgate_events_dead", 1));
  const auto text = scrape(app());
  EXPECT_NEAR(text.value("hookgate_oldest_pending_seconds"), 3600, 30);
  EXPECT_EQ(text.value("hookgate_outbox_pending"), 0);
}

TEST_F(MetricsPageTest, SaysWhichProgramAndFormatItIs) {
  start_gateway(stripe_config());
  httplib::Client client{"http://" + app().admin_address()};
  const auto answer = client.Get("/metrics");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(answer->body.find("\nhookgate_build_info{version=\""), std::string::npos);
  EXPECT_NE(answer->body.find("\nprocess_start_time_seconds 1"), std::string::npos);
}

TEST_F(MetricsPageTest, AsksForTheTokenWhenThereIsOne) {
  start_gateway(with_token(stripe_config()));
  httplib::Client client{"http://" + app().admin_address()};
  const auto status = [&](const std::string& path, const std::string& authorization) {
    const auto answer = client.Get(path.c_str(), {{"Authorization", authorization}});
    return answer ? answer->status : 0;
  };
  const auto token = std::string{kToken};
  EXPECT_EQ(status("/metrics", "Bearer " + token), 200);
  EXPECT_EQ(status("/metrics", ""), 401);
  EXPECT_EQ(status("/metrics", "Bearer " + token + "x"), 401);
  EXPECT_EQ(status("/metrics", "Bearer " + token.substr(1)), 401);
  EXPECT_EQ(status("/metrics", "Basic " + token), 401);
  EXPECT_EQ(status("/nothing", ""), 401);
  EXPECT_EQ(status("/nothing", "Bearer " + token), 404);
  EXPECT_EQ(status("/healthz", ""), 200);
  EXPECT_EQ(client.Get("/metrics")->get_header_value("WWW-Authenticate"),
            "Bearer realm=\"hookgate\"");
}

TEST_F(MetricsPageTest, KnowsHeadAndRefusesOtherMethodsAndPaths) {
  start_gateway(stripe_config());
  httplib::Client client{"http://" + app().admin_address()};
  const auto head = client.Head("/metrics");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(head->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  for (const auto& answer : {client.Post("/metrics", "{}", "application/json"),
                             client.Delete("/metrics"), client.Patch("/healthz")}) {
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 405);
    EXPECT_EQ(answer->get_header_value("Allow"), "GET, HEAD");
    EXPECT_EQ(answer->get_header_value("Content-Type"), "application/problem+json");
  }
  const auto nothing = client.Get("/nothing");
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->status, 404);
  EXPECT_EQ(nothing->body, R"({"type":"about:blank","title":"not found","status":404})");
}

class MetricsOutageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    PrivatePostgresOptions options;
    options.data_dir =
        std::filesystem::temp_directory_path() / ("hookgate-metrics-" + std::to_string(::getpid()));
    options.durable = false;
    data_dir_ = options.data_dir;
    postgres_ = std::make_unique<PrivatePostgres>(options);
    postgres_->start();
    app_ = std::make_unique<App>(parse_config(test_config(Secret{postgres_->url()}), "test.toml"));
    app_->start();
  }
  void TearDown() override {
    app_.reset();
    postgres_->stop();
    std::filesystem::remove_all(data_dir_);
  }
  bool eventually_known(bool known) {
    const auto deadline = steady_clock::now() + seconds{10};
    while (std::isnan(scrape(*app_).value("hookgate_events_pending")) == known) {
      if (steady_clock::now() > deadline) return false;
    }
    return true;
  }

  std::filesystem::path data_dir_;
  std::unique_ptr<PrivatePostgres> postgres_;
  std::unique_ptr<App> app_;
};

TEST_F(MetricsOutageTest, IsScrapedAllTheSameWhileTheDatabaseIsAway) {
  EXPECT_EQ(scrape(*app_).value("hookgate_events_pending"), 0);
  postgres_->stop();
  EXPECT_TRUE(eventually_known(false));
  const auto began = steady_clock::now();
  const auto text = scrape(*app_);
  EXPECT_LT(steady_clock::now() - began, seconds{3});
  EXPECT_EQ(text.faults(), std::vector<std::string>{});
  for (const auto* gauge : {"hookgate_events_pending", "hookgate_oldest_pending_seconds",
                            "hookgate_events_dead", "hookgate_outbox_pending"}) {
    EXPECT_TRUE(std::isnan(text.value(gauge))) << gauge;
  }
  EXPECT_EQ(text.value(R"(hookgate_requests_total{source="stripe",status="503"})"), 0);
  EXPECT_GT(text.value("process_resident_memory_bytes"), 0);
  postgres_->start();
  EXPECT_TRUE(eventually_known(true));
}

}  // namespace
}  // namespace hookgate
