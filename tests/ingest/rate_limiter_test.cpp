#include "ingest/rate_limiter.h"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RateLimiter::Time kStart{hours{1'000}};

int passed(RateLimiter& limiter, double rate, RateLimiter::Time now, int tries = 1'000) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += limiter.take("stripe", rate, now) ? 0 : 1;
  return count;
}

TEST(RateLimiterTest, LetsABurstOfOneSecondPassAtOnce) {
  RateLimiter limiter;
  EXPECT_EQ(passed(limiter, 10, kStart), 10);
}

TEST(RateLimiterTest, LetsOnePassHoweverLowTheRate) {
  RateLimiter limiter;
  EXPECT_EQ(passed(limiter, 0.01, kStart), 1);
}

TEST(RateLimiterTest, FillsAtItsRateAndNoHigherThanTheBurst) {
  RateLimiter limiter;
  passed(limiter, 10, kStart);
  EXPECT_EQ(passed(limiter, 10, kStart + milliseconds{99}), 0);
  EXPECT_EQ(passed(limiter, 10, kStart + milliseconds{101}), 1);
  EXPECT_EQ(passed(limiter, 10, kStart + milliseconds{601}), 5);
  EXPECT_EQ(passed(limiter, 10, kStart + hours{1}), 10);
}

TEST(RateLimiterTest, GrantsTheRateOverALongTime) {
  RateLimiter limiter;
  int count = 0;
  for (int i = 0; i < 60'000; ++i) count += passed(limiter, 7.5, kStart + milliseconds{i}, 1);
  EXPECT_NEAR(count, 450 + 7, 2);
}

TEST(RateLimiterTest, TellsTheWholeSecondsToWait) {
  RateLimiter limiter;
  passed(limiter, 0.25, kStart);
  EXPECT_EQ(limiter.take("stripe", 0.25, kStart), seconds{4});
  EXPECT_EQ(limiter.take("stripe", 0.25, kStart + milliseconds{500}), seconds{4});
  EXPECT_EQ(limiter.take("stripe", 0.25, kStart + milliseconds{3'001}), seconds{1});
  EXPECT_EQ(limiter.take("stripe", 0.25, kStart + seconds{4}), std::nullopt);
}

TEST(RateLimiterTest, NeverTellsLessThanASecondOrMoreThanAnHour) {
  RateLimiter limiter;
  passed(limiter, 500, kStart);
  EXPECT_EQ(limiter.take("stripe", 500, kStart), seconds{1});
  limiter.take("slow", 1e-300, kStart);
  EXPECT_EQ(limiter.take("slow", 1e-300, kStart), hours{1});
}

TEST(RateLimiterTest, KeepsTheSourcesApart) {
  RateLimiter limiter;
  passed(limiter, 1, kStart);
  EXPECT_EQ(limiter.take("adyen", 1, kStart), std::nullopt);
}

TEST(RateLimiterTest, LetsARequestOfManyEventsGoIntoDebt) {
  RateLimiter limiter;
  limiter.take("stripe", 2, kStart);
  limiter.charge("stripe", 9);  // 8 below empty
  EXPECT_EQ(limiter.take("stripe", 2, kStart), seconds{5});
  EXPECT_EQ(passed(limiter, 2, kStart + milliseconds{4'501}), 1);
}

TEST(RateLimiterTest, CutsABucketToALowerRate) {
  RateLimiter limiter;
  limiter.take("stripe", 100, kStart);
  EXPECT_EQ(passed(limiter, 5, kStart), 5);
}

TEST(RateLimiterTest, TakesAnOlderTimeForNoTimePassed) {
  RateLimiter limiter;
  passed(limiter, 1, kStart + seconds{1});
  EXPECT_EQ(passed(limiter, 1, kStart), 0);
  EXPECT_EQ(passed(limiter, 1, kStart + milliseconds{1'500}), 0);
  EXPECT_EQ(passed(limiter, 1, kStart + milliseconds{2'001}), 1);
}

TEST(RateLimiterTest, GrantsEachTokenToOneThreadOnly) {
  constexpr int kThreads = 4;
  constexpr int kTokens = 200'000;
  RateLimiter limiter;
  std::atomic<int> count = 0;
  std::latch start{kThreads};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      count += passed(limiter, kTokens, kStart, kTokens / 2);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count, kTokens);
}

}  // namespace
}  // namespace hookgate
