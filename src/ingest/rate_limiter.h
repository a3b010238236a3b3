#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace hookgate {

// A token bucket for each source: `rate` tokens a second flow in, at most max(1, rate) are kept.
// Keyed by name and not part of the sources, so that replacing these does not refill the buckets.
// Every method from any thread. Time is an argument; it may be a little older than that of another
// thread's call, which then counts as no time passed.
class RateLimiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Takes one token, or says after how many seconds there will be one again: rounded up, at least
  // 1, at most an hour. `rate` is above 0.
  std::optional<std::chrono::seconds> take(std::string_view source, double rate, Time now);

  // Takes `tokens` more from the bucket of that source, into debt if need be: for a request that
  // turned out to hold several events.
  void charge(std::string_view source, double tokens);

 private:
  struct Bucket {
    double tokens = 0;
    Time filled_at;
  };

  std::mutex mutex_;
  std::map<std::string, Bucket, std::less<>> buckets_;  // guarded by mutex_; of configured sources
};

}  // namespace hookgate
