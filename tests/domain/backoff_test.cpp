#include "domain/backoff.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace hookgate {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kMostRandom = std::numeric_limits<std::uint64_t>::max();

TEST(BackoffTest, StartsBetweenATenthAndTheFirstCeiling) {
  const BackoffPolicy policy{milliseconds{1'000}, milliseconds{60'000}};
  EXPECT_EQ(backoff_delay(policy, 1, 0), milliseconds{100});
  EXPECT_EQ(backoff_delay(policy, 1, 900), milliseconds{1'000});
  EXPECT_EQ(backoff_delay(policy, 1, 901), milliseconds{100});
}

TEST(BackoffTest, DoublesTheCeilingWithEveryAttempt) {
  const BackoffPolicy policy{milliseconds{1'000}, milliseconds{60'000}};
  EXPECT_EQ(backoff_delay(policy, 2, 0), milliseconds{200});
  EXPECT_EQ(backoff_delay(policy, 4, 0), milliseconds{800});
}

TEST(BackoffTest, StopsGrowingAtTheCap) {
  const BackoffPolicy policy{milliseconds{1'000}, milliseconds{60'000}};
  EXPECT_EQ(backoff_delay(policy, 7, 0), milliseconds{6'000});
  EXPECT_EQ(backoff_delay(policy, 1'000'000, 0), milliseconds{6'000});
}

TEST(BackoffTest, TakesAnAttemptBelowOneForTheFirst) {
  EXPECT_EQ(backoff_delay({}, 0, 0), backoff_delay({}, 1, 0));
  EXPECT_EQ(backoff_delay({}, std::numeric_limits<int>::min() + 1, 0), backoff_delay({}, 1, 0));
}

RC_GTEST_PROP(BackoffProperty, StaysWithinItsBounds, (std::uint64_t random)) {
  const BackoffPolicy policy{milliseconds{*rc::gen::inRange(1, 10'000)},
                             milliseconds{*rc::gen::inRange(10'000, 100'000'000)}};
  const auto attempt = *rc::gen::inRange(1, 200);
  const auto delay = backoff_delay(policy, attempt, random);
  const milliseconds grown = policy.first * (1LL << std::min(attempt - 1, 30));
  const auto ceiling = std::min(policy.cap, grown);
  RC_ASSERT(delay >= ceiling / 10);
  RC_ASSERT(delay <= ceiling);
}

RC_GTEST_PROP(BackoffProperty, NeverShrinksForOnePointOfTheJitter, ()) {
  const auto attempt = *rc::gen::inRange(1, 60);
  RC_ASSERT(backoff_delay({}, attempt + 1, 0) >= backoff_delay({}, attempt, 0));
  RC_ASSERT(backoff_delay({}, attempt, kMostRandom) > milliseconds{0});
}

}  // namespace
}  // namespace hookgate
