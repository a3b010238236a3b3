#include "cli/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hookgate {
namespace {

// Values below 256 have a bucket each; above, each power of two is cut into 128 equal buckets, so
// that a bucket is never wider than 1/128 of the values in it.
constexpr unsigned kExactBits = 8;
constexpr std::uint64_t kPerPower = 1U << (kExactBits - 1);
constexpr unsigned kValueBits = 42;  // 73 minutes in nanoseconds
constexpr std::uint64_t kValueMax = (std::uint64_t{1} << kValueBits) - 1;

std::size_t bucket_of(std::uint64_t value) {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  const unsigned shift = width > kExactBits ? width - kExactBits : 0;
  return static_cast<std::size_t>(shift * kPerPower + (value >> shift));
}

std::uint64_t largest_in(std::size_t bucket) {
  if (bucket < 2 * kPerPower) return bucket;
  const auto shift = bucket / kPerPower - 1;
  const auto first = bucket - shift * kPerPower;
  return ((first + 1) << shift) - 1;
}

}  // namespace

LatencyHistogram::LatencyHistogram() : buckets_(bucket_of(kValueMax) + 1) {}

void LatencyHistogram::record(std::chrono::nanoseconds latency) {
  const auto value =
      static_cast<std::uint64_t>(std::clamp<std::int64_t>(latency.count(), 0, kValueMax));
  ++buckets_[bucket_of(value)];
  ++count_;
  const std::chrono::nanoseconds kept{value};
  max_ = std::max(max_, kept);
  sum_ += kept;
}

std::chrono::nanoseconds LatencyHistogram::mean() const {
  return count_ == 0 ? sum_ : sum_ / static_cast<std::int64_t>(count_);
}

std::chrono::nanoseconds LatencyHistogram::percentile(double percent) const {
  if (count_ == 0) return std::chrono::nanoseconds{0};
  const auto share = std::clamp(percent, 0.0, 100.0) / 100;
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_) - 1e-9)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) {
      return std::min(max_, std::chrono::nanoseconds{largest_in(bucket)});
    }
  }
  return max_;
}

}  // namespace hookgate
