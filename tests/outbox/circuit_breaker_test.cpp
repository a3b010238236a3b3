#include "outbox/circuit_breaker.h"

#include <gtest/gtest.h>

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class CircuitBreakerTest : public ::testing::Test {
 protected:
  bool fail(CircuitBreaker::TimePoint at) {
    const auto answer = breaker_.ask(at);
    EXPECT_TRUE(answer.is_allowed);
    return breaker_.failed(answer, at);
  }
  void open() {
    for (int i = 0; i < 3; ++i) fail(start_);
  }

  const CircuitBreaker::TimePoint start_ = std::chrono::steady_clock::now();
  CircuitBreaker breaker_{{.failures_max = 3, .pause_first = seconds{5}, .pause_max = seconds{12}}};
};

TEST_F(CircuitBreakerTest, OpensAfterSoManyFailuresInARow) {
  EXPECT_FALSE(fail(start_));
  EXPECT_FALSE(fail(start_));
  EXPECT_TRUE(fail(start_));
  const auto answer = breaker_.ask(start_ + seconds{1});
  EXPECT_FALSE(answer.is_allowed);
  EXPECT_EQ(answer.wait, seconds{4});
}

TEST_F(CircuitBreakerTest, ASuccessBetweenStartsTheCountAgain) {
  fail(start_);
  fail(start_);
  EXPECT_FALSE(breaker_.succeeded(breaker_.ask(start_)));
  fail(start_);
  EXPECT_FALSE(fail(start_));
  EXPECT_TRUE(breaker_.ask(start_).is_allowed);
}

TEST_F(CircuitBreakerTest, LetsOneProbeThroughAfterThePause) {
  open();
  const auto probe = breaker_.ask(start_ + seconds{5});
  EXPECT_TRUE(probe.is_allowed);
  EXPECT_TRUE(probe.is_probe);
  EXPECT_FALSE(breaker_.ask(start_ + seconds{5}).is_allowed);
  EXPECT_TRUE(breaker_.succeeded(probe));
  EXPECT_TRUE(breaker_.ask(start_ + seconds{5}).is_allowed);
}

TEST_F(CircuitBreakerTest, WaitsLongerAfterEveryProbeThatFails) {
  open();
  fail(start_ + seconds{5});
  EXPECT_EQ(breaker_.ask(start_ + seconds{5}).wait, seconds{10});
  fail(start_ + seconds{15});
  EXPECT_EQ(breaker_.ask(start_ + seconds{15}).wait, seconds{12});
}

TEST_F(CircuitBreakerTest, AProbeThatWasNotTriedIsThereForTheNext) {
  open();
  breaker_.withdraw(breaker_.ask(start_ + seconds{5}));
  EXPECT_TRUE(breaker_.ask(start_ + seconds{5}).is_probe);
}

TEST_F(CircuitBreakerTest, FailuresOfTriesThatBeganBeforeDoNotMakeThePauseLonger) {
  const auto earlier = breaker_.ask(start_);
  open();
  EXPECT_FALSE(breaker_.failed(earlier, start_ + seconds{4}));
  EXPECT_TRUE(breaker_.ask(start_ + seconds{5}).is_allowed);
}

TEST_F(CircuitBreakerTest, HoldsAsLongAsTheReceiverAsked) {
  breaker_.hold(start_ + seconds{7});
  EXPECT_EQ(breaker_.ask(start_).wait, seconds{7});
  EXPECT_FALSE(breaker_.ask(start_ + milliseconds{6'999}).is_allowed);
  EXPECT_TRUE(breaker_.ask(start_ + seconds{7}).is_allowed);
}

}  // namespace
}  // namespace hookgate
