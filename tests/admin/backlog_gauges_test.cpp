#include "admin/backlog_gauges.h"

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds kForever{3'600'000};

class BacklogGaugesTest : public ::testing::Test {
 protected:
  bool shows(const std::string& line) const {
    return metrics_.text().find("\n" + line + "\n") != std::string::npos;
  }
  Metrics metrics_;
};

TEST_F(BacklogGaugesTest, ShowWhatTheDatabaseSays) {
  BacklogGauges gauges{metrics_, [] { return Metrics::Backlog{3, 1.5, 2, 0}; }};
  gauges.start();
  gauges.refresh();
  EXPECT_TRUE(shows("hookgate_events_pending 3"));
  EXPECT_TRUE(shows("hookgate_oldest_pending_seconds 1.5"));
  EXPECT_TRUE(shows("hookgate_events_dead 2"));
  EXPECT_TRUE(shows("hookgate_outbox_pending 0"));
}

TEST_F(BacklogGaugesTest, AreNotReadAgainWhileTheyAreYoung) {
  std::atomic<int> reads = 0;
  BacklogGauges gauges{metrics_,
                       [&] {
                         ++reads;
                         return Metrics::Backlog{};
                       },
                       {.age_max = kForever}};
  gauges.start();
  std::vector<std::jthread> scrapes;
  scrapes.reserve(4);
  for (int i = 0; i < 4; ++i) scrapes.emplace_back([&] { gauges.refresh(); });
  scrapes.clear();
  gauges.refresh();
  EXPECT_EQ(reads, 1);
}

TEST_F(BacklogGaugesTest, AreNotKnownWhileTheDatabaseIsAwayAndThenAgain) {
  std::atomic<bool> away = false;
  BacklogGauges gauges{metrics_,
                       [&] {
                         if (away) throw std::runtime_error("away");
                         return Metrics::Backlog{3, 0, 0, 0};
                       },
                       {.age_max = milliseconds{0}}};
  gauges.start();
  gauges.refresh();
  EXPECT_TRUE(shows("hookgate_events_pending 3"));
  away = true;
  gauges.refresh();
  EXPECT_TRUE(shows("hookgate_events_pending Nan"));
  away = false;
  gauges.refresh();
  EXPECT_TRUE(shows("hookgate_events_pending 3"));
}

TEST_F(BacklogGaugesTest, DoNotWaitForADatabaseThatHangs) {
  std::promise<void> release;
  std::atomic<int> reads = 0;
  BacklogGauges gauges{metrics_,
                       [&, released = release.get_future().share()] {
                         ++reads;
                         released.wait();
                         return Metrics::Backlog{3, 0, 0, 0};
                       },
                       {.age_max = milliseconds{0}, .wait_max = milliseconds{200}}};
  gauges.start();
  const auto began = steady_clock::now();
  gauges.refresh();
  EXPECT_GE(steady_clock::now() - began, milliseconds{200});
  EXPECT_LT(steady_clock::now() - began, seconds{5});
  EXPECT_TRUE(shows("hookgate_events_pending Nan"));
  // The next scrapes find the read still under way and do not pay for it again.
  const auto later = steady_clock::now();
  for (int i = 0; i < 100; ++i) gauges.refresh();
  EXPECT_LT(steady_clock::now() - later, seconds{5});
  EXPECT_EQ(reads, 1);
  release.set_value();
}

TEST_F(BacklogGaugesTest, StopTwiceAndBeforeTheyWereStarted) {
  BacklogGauges gauges{metrics_, [] { return Metrics::Backlog{}; }};
  gauges.stop();
  gauges.start();
  gauges.stop();
  gauges.stop();
}

}  // namespace
}  // namespace hookgate
