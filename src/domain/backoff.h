#pragma once

#include <chrono>
#include <cstdint>

namespace hookgate {

struct BackoffPolicy {
  std::chrono::milliseconds first{1'000};
  std::chrono::milliseconds cap{std::chrono::hours{1}};
};

// Wait before the next try after `attempt` tries failed (1 for the first): exponential with full
// jitter. The ceiling doubles from `first` up to `cap`; `random` (uniform over all 64 bits) picks
// the point between a tenth of the ceiling and the ceiling, so that a broken database is not asked
// in lockstep.
std::chrono::milliseconds backoff_delay(const BackoffPolicy& policy, int attempt,
                                        std::uint64_t random);

}  // namespace hookgate
