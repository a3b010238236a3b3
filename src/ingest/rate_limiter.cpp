#include "ingest/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace hookgate {
namespace {

constexpr double kWaitSecondsMax = 3600;

}  // namespace

std::optional<std::chrono::seconds> RateLimiter::take(std::string_view source, double rate,
                                                      Time now) {
  const double tokens_max = std::max(1.0, rate);
  const std::scoped_lock lock{mutex_};
  auto found = buckets_.find(source);
  if (found == buckets_.end())
    found = buckets_.emplace(source, Bucket{.tokens = tokens_max, .filled_at = now}).first;
  auto& bucket = found->second;
  const std::chrono::duration<double> passed = now - bucket.filled_at;
  bucket.filled_at = std::max(bucket.filled_at, now);
  bucket.tokens = std::min(tokens_max, bucket.tokens + std::max(0.0, passed.count()) * rate);
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return std::nullopt;
  }
  const double wait = std::ceil((1 - bucket.tokens) / rate);
  return std::chrono::seconds{std::lround(std::clamp(wait, 1.0, kWaitSecondsMax))};
}

void RateLimiter::charge(std::string_view source, double tokens) {
  const std::scoped_lock lock{mutex_};
  const auto found = buckets_.find(source);
  if (found != buckets_.end()) found->second.tokens -= tokens;
}

}  // namespace hookgate
