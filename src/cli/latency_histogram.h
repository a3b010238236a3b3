#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hookgate {

// Latencies in buckets that grow with the value: a figure read from it is at most 0.8 % above the
// true one, from 1 ns to more than an hour, in 36 KiB. One thread at a time.
class LatencyHistogram {
 public:
  LatencyHistogram();

  // Negative ones count as 0; those beyond the range count as its end.
  void record(std::chrono::nanoseconds latency);

  std::uint64_t count() const { return count_; }
  std::chrono::nanoseconds max() const { return max_; }  // exact
  std::chrono::nanoseconds mean() const;                 // exact; 0 when empty
  // The latency that `percent` % of all did not exceed, 0 to 100; 0 when empty.
  std::chrono::nanoseconds percentile(double percent) const;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::chrono::nanoseconds max_{0};
  std::chrono::nanoseconds sum_{0};
};

}  // namespace hookgate
