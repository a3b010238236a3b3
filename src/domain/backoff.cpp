#include "domain/backoff.h"

#include <algorithm>

namespace hookgate {

std::chrono::milliseconds backoff_delay(const BackoffPolicy& policy, int attempt,
                                        std::uint64_t random) {
  const int doublings = std::clamp(attempt - 1, 0, 30);
  const auto ceiling =
      std::min<std::int64_t>(policy.first.count() << doublings, policy.cap.count());
  const auto floor = ceiling / 10;
  const auto span = static_cast<std::uint64_t>(ceiling - floor) + 1;
  return std::chrono::milliseconds{floor + static_cast<std::int64_t>(random % span)};
}

}  // namespace hookgate
