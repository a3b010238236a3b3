#include "telemetry/metrics.h"

#include <cmath>
#include <iostream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "metrics_text.h"

namespace hookgate {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

class MetricsTest : public ::testing::Test {
 protected:
  MetricsText scrape() const { return MetricsText{metrics_.text()}; }
  Metrics metrics_;
};

TEST_F(MetricsTest, WritesTheTextFormatWithoutAFault) {
  metrics_.declare_source("stripe", 2);
  metrics_.declare_handler("payments");
  metrics_.request("stripe", 200, milliseconds{3});
  EXPECT_EQ(scrape().faults(), std::vector<std::string>{});
}

TEST_F(MetricsTest, CountsRequestsBySourceAndStatus) {
  metrics_.request("stripe", 200, milliseconds{3});
  metrics_.request("stripe", 200, milliseconds{3});
  metrics_.request("", 404, milliseconds{1});
  const auto text = scrape();
  EXPECT_EQ(text.value(R"(hookgate_requests_total{source="stripe",status="200"})"), 2);
  EXPECT_EQ(text.value(R"(hookgate_requests_total{source="",status="404"})"), 1);
  EXPECT_EQ(text.value("hookgate_request_seconds_count"), 3);
  EXPECT_NEAR(text.value("hookgate_request_seconds_sum"), 0.007, 1e-9);
}

TEST_F(MetricsTest, CountsEventsRejectionsAndSecrets) {
  metrics_.event("adyen", EventOutcome::kAccepted, 3);
  metrics_.event("adyen", EventOutcome::kDuplicate);
  metrics_.event("adyen", EventOutcome::kConflict);
  metrics_.event("adyen", EventOutcome::kRejected);
  metrics_.rejection("adyen", "signature-mismatch");
  metrics_.secret_match("adyen", 1);
  metrics_.last_event("adyen", std::chrono::system_clock::time_point{seconds{1'767'225'600}});
  const auto text = scrape();
  EXPECT_EQ(text.value(R"(hookgate_events_total{outcome="accepted",source="adyen"})"), 3);
  EXPECT_EQ(text.value(R"(hookgate_events_total{outcome="duplicate",source="adyen"})"), 1);
  EXPECT_EQ(text.value(R"(hookgate_events_total{outcome="conflict",source="adyen"})"), 1);
  EXPECT_EQ(text.value(R"(hookgate_events_total{outcome="rejected",source="adyen"})"), 1);
  EXPECT_EQ(text.value(R"(hookgate_rejections_total{reason="signature-mismatch",source="adyen"})"),
            1);
  EXPECT_EQ(text.value(R"(hookgate_secret_matches_total{secret="1",source="adyen"})"), 1);
  EXPECT_EQ(text.value(R"(hookgate_last_event_timestamp_seconds{source="adyen"})"), 1'767'225'600);
}

TEST_F(MetricsTest, StartsDeclaredSeriesAtZero) {
  metrics_.declare_source("stripe", 2);
  metrics_.declare_handler("payments");
  metrics_.declare_destination("crm");
  const auto text = scrape();
  for (const auto* series :
       {R"(hookgate_requests_total{source="stripe",status="200"})",
        R"(hookgate_requests_total{source="stripe",status="503"})",
        R"(hookgate_requests_total{source="",status="404"})",
        R"(hookgate_events_total{outcome="conflict",source="stripe"})",
        R"(hookgate_rejections_total{reason="credentials-mismatch",source="stripe"})",
        R"(hookgate_secret_matches_total{secret="1",source="stripe"})",
        R"(hookgate_last_event_timestamp_seconds{source="stripe"})",
        R"(hookgate_handler_runs_total{handler="payments",outcome="gave_up"})",
        R"(hookgate_handler_seconds_count{handler="payments"})",
        R"(hookgate_outbox_sends_total{destination="crm",outcome="dead"})",
        R"(hookgate_stage_seconds_count{stage="commit_wait"})"}) {
    EXPECT_EQ(text.value(series), 0) << series;
  }
  EXPECT_FALSE(text.has(R"(hookgate_secret_matches_total{secret="2",source="stripe"})"));
}

TEST_F(MetricsTest, ADeclarationKeepsWhatWasCounted) {
  metrics_.secret_match("stripe", 0);
  metrics_.declare_source("stripe", 3);
  const auto text = scrape();
  EXPECT_EQ(text.value(R"(hookgate_secret_matches_total{secret="0",source="stripe"})"), 1);
  EXPECT_EQ(text.value(R"(hookgate_secret_matches_total{secret="2",source="stripe"})"), 0);
}

TEST_F(MetricsTest, PutsALatencyIntoItsBucket) {
  metrics_.stage(Stage::kVerify, microseconds{60});
  metrics_.commit(milliseconds{2}, 64);
  metrics_.commit(seconds{11}, 65);
  const auto text = scrape();
  const auto stage = [&](const std::string& bound) {
    return text.value("hookgate_stage_seconds_bucket{stage=\"verify\",le=\"" + bound + "\"}");
  };
  EXPECT_EQ(stage("5e-05"), 0);
  EXPECT_EQ(stage("0.0001"), 1);
  const auto batches = text.buckets("hookgate_commit_batch_size");
  ASSERT_EQ(batches.size(), 11U);
  EXPECT_EQ(batches.front().first, "1");
  EXPECT_EQ(batches[6], (std::pair<std::string, double>{"64", 1}));
  EXPECT_EQ(batches[9], (std::pair<std::string, double>{"512", 2}));
  const auto commits = text.buckets("hookgate_commit_seconds");
  EXPECT_EQ(commits[commits.size() - 2], (std::pair<std::string, double>{"10", 1}));
  EXPECT_EQ(commits.back(), (std::pair<std::string, double>{"+Inf", 2}));
}

TEST_F(MetricsTest, SaysThatTheBacklogIsNotKnown) {
  EXPECT_TRUE(std::isnan(scrape().value("hookgate_events_pending")));
  metrics_.set_backlog({7, 1.5, 2, 0});
  const auto known = scrape();
  EXPECT_EQ(known.value("hookgate_events_pending"), 7);
  EXPECT_EQ(known.value("hookgate_oldest_pending_seconds"), 1.5);
  EXPECT_EQ(known.value("hookgate_events_dead"), 2);
  EXPECT_EQ(known.value("hookgate_outbox_pending"), 0);
  metrics_.clear_backlog();
  EXPECT_TRUE(std::isnan(scrape().value("hookgate_events_dead")));
}

TEST_F(MetricsTest, EscapesWhatAUsersHandlerIsCalled) {
  metrics_.handler_run("a \"b\"\\\n\xff", "done", milliseconds{1});
  const auto text = scrape();
  EXPECT_EQ(text.faults(), std::vector<std::string>{});
  EXPECT_EQ(text.value("hookgate_handler_runs_total{handler=\"a \\\"b\\\"\\\\\\n\xef\xbf\xbd\","
                       "outcome=\"done\"}"),
            1);
}

TEST_F(MetricsTest, HasALimitOnEveryLabel) {
  constexpr int kMany = 5'000;
  for (int i = 0; i < kMany; ++i) {
    metrics_.request("source" + std::to_string(i), 200, milliseconds{1});
    metrics_.rejection("stripe", "reason" + std::to_string(i));
    metrics_.secret_match("stripe", static_cast<std::size_t>(i));
    metrics_.request("", i, milliseconds{1});
    metrics_.handler_run("payments", "outcome" + std::to_string(i), milliseconds{1});
  }
  const auto text = scrape();
  // 1,024 sources have series of their own, "stripe" is one of them; one request was of "" itself.
  EXPECT_EQ(text.value(R"(hookgate_requests_total{source="",status="200"})"), kMany - 1'023 + 1);
  EXPECT_EQ(text.value(R"(hookgate_requests_total{source="",status="other"})"), kMany - 500);
  EXPECT_FALSE(text.has(R"(hookgate_requests_total{source="source4999",status="200"})"));
  EXPECT_GT(text.value(R"(hookgate_secret_matches_total{secret="other",source="stripe"})"), 0);
}

TEST_F(MetricsTest, KnowsThisProcess) {
  const auto text = scrape();
  const auto now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(text.value("process_start_time_seconds"), now, 60);
  EXPECT_GT(text.value("process_resident_memory_bytes"), 1e6);
  EXPECT_GE(text.value("process_open_fds"), 3);
  EXPECT_GT(text.value("process_max_fds"), text.value("process_open_fds"));
  EXPECT_GE(text.value("process_cpu_seconds_total"), 0);
  EXPECT_EQ(text.type("process_cpu_seconds_total"), "counter");
}

TEST_F(MetricsTest, LosesNothingWhenThreadsObserveAndScrapeAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20'000;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      const auto own = "source" + std::to_string(thread);
      for (int i = 0; i < kRounds; ++i) {
        metrics_.request("shared", 200 + i % 3, microseconds{i});
        metrics_.event(own, EventOutcome::kAccepted, 2);
        metrics_.rejection("shared", i % 2 == 0 ? "one" : "two");
        metrics_.handler_run("payments", "done", microseconds{i});
        metrics_.commit(microseconds{i}, 1);
      }
    });
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(scrape().faults(), std::vector<std::string>{});
  threads.clear();

  const auto text = scrape();
  const auto requests = [&](const std::string& status) {
    return text.value(R"(hookgate_requests_total{source="shared",status=")" + status + "\"}");
  };
  EXPECT_EQ(requests("200") + requests("201") + requests("202"), kThreads * kRounds);
  EXPECT_EQ(text.value("hookgate_request_seconds_count"), kThreads * kRounds);
  EXPECT_NEAR(text.value("hookgate_request_seconds_sum"),
              kThreads * (kRounds - 1.0) * kRounds / 2e6, 1e-3);
  for (int thread = 0; thread < kThreads; ++thread) {
    EXPECT_EQ(text.value(R"(hookgate_events_total{outcome="accepted",source="source)" +
                         std::to_string(thread) + "\"}"),
              2 * kRounds);
  }
  for (const auto* reason : {"one", "two"}) {
    EXPECT_EQ(text.value(std::string{R"(hookgate_rejections_total{reason=")"} + reason +
                         R"(",source="shared"})"),
              kThreads * kRounds / 2);
  }
  EXPECT_EQ(text.value(R"(hookgate_handler_runs_total{handler="payments",outcome="done"})"),
            kThreads * kRounds);
  EXPECT_EQ(text.value("hookgate_commit_batch_size_count"), kThreads * kRounds);
}

// The figures of docs/metrics.md. Printed; the bound is far off, for slow and sanitized builds.
TEST_F(MetricsTest, ObservesInWellUnderAMicrosecond) {
  static constexpr int kRounds = 200'000;
  metrics_.declare_source("stripe", 1);
  const auto measure = [](const char* what, const auto& observe) {
    const auto began = steady_clock::now();
    for (int i = 0; i < kRounds; ++i) observe();
    const auto each = duration_cast<nanoseconds>(steady_clock::now() - began) / kRounds;
    std::cout << what << ": " << each.count() << " ns\n";
    EXPECT_LT(each, microseconds{20}) << what;
  };
  measure("event", [this] { metrics_.event("stripe", EventOutcome::kAccepted); });
  measure("stage", [this] { metrics_.stage(Stage::kVerify, microseconds{300}); });
  measure("request", [this] { metrics_.request("stripe", 200, milliseconds{3}); });
  measure("rejection", [this] { metrics_.rejection("stripe", "signature-mismatch"); });
  measure("handler run", [this] { metrics_.handler_run("payments", "done", milliseconds{1}); });
}

}  // namespace
}  // namespace hookgate
