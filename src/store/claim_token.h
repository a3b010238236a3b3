#pragma once

#include <cstdint>

namespace hookgate {

// First key of the lock that shows a process lives; the second is its instance.
inline constexpr std::int32_t kPresenceLock = 0x686f6f6b;  // "hook"

// A fencing token: the claiming process's instance in the upper half, chance in the lower.
std::int64_t fresh_claim_token(std::int32_t instance);

}  // namespace hookgate
