#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "domain/time.h"

namespace hookgate {

// How long a receiver wants us to wait, from a Retry-After header: seconds, or an HTTP date in any
// of its three forms (RFC 9110, 10.2.3 and 5.6.7). 0 for a date that is over, at most `most`.
// Nothing for what is neither.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value, SystemTime now,
                                                           std::chrono::milliseconds most);

}  // namespace hookgate
