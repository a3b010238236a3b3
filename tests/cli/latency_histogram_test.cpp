#include "cli/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

using std::chrono::nanoseconds;

TEST(LatencyHistogramTest, IsZeroWhenEmpty) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.percentile(99), nanoseconds{0});
  EXPECT_EQ(histogram.max(), nanoseconds{0});
  EXPECT_EQ(histogram.mean(), nanoseconds{0});
}

TEST(LatencyHistogramTest, KeepsSmallValuesExactly) {
  LatencyHistogram histogram;
  for (int i = 1; i <= 200; ++i) histogram.record(nanoseconds{i});
  EXPECT_EQ(histogram.percentile(0), nanoseconds{1});
  EXPECT_EQ(histogram.percentile(50), nanoseconds{100});
  EXPECT_EQ(histogram.percentile(99), nanoseconds{198});
  EXPECT_EQ(histogram.percentile(99.9), nanoseconds{200});
  EXPECT_EQ(histogram.percentile(100), nanoseconds{200});
}

TEST(LatencyHistogramTest, IsWithinOnePercentOfTheSortedValues) {
  std::mt19937_64 random{7};
  std::lognormal_distribution<double> latency{13, 2.5};  // around 0.4 ms, with a long tail
  LatencyHistogram histogram;
  std::vector<std::int64_t> values;
  for (int i = 0; i < 100'000; ++i) {
    values.push_back(static_cast<std::int64_t>(latency(random)));
    histogram.record(nanoseconds{values.back()});
  }
  std::ranges::sort(values);
  for (const double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 99.99}) {
    const auto rank = static_cast<std::size_t>(std::lround(percent / 100 * 100'000));
    const auto exact = static_cast<double>(values[rank - 1]);
    const auto shown = static_cast<double>(histogram.percentile(percent).count());
    EXPECT_GE(shown, exact) << percent;
    EXPECT_LE(shown, exact * 1.008 + 1) << percent;
  }
  EXPECT_EQ(histogram.max(), nanoseconds{values.back()});
  EXPECT_EQ(histogram.percentile(100), nanoseconds{values.back()});
}

TEST(LatencyHistogramTest, TakesValuesOutsideItsRangeAsItsEnds) {
  LatencyHistogram histogram;
  histogram.record(nanoseconds{-5});
  EXPECT_EQ(histogram.max(), nanoseconds{0});
  EXPECT_EQ(histogram.percentile(100), nanoseconds{0});
  histogram.record(std::chrono::hours{100});
  EXPECT_GT(histogram.max(), std::chrono::hours{1});
  EXPECT_LT(histogram.max(), std::chrono::hours{2});
  EXPECT_EQ(histogram.percentile(100), histogram.max());
  EXPECT_EQ(histogram.count(), 2U);
}

}  // namespace
}  // namespace hookgate
