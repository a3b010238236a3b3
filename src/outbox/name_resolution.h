#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "domain/ip_network.h"

namespace hookgate {

inline constexpr std::size_t kAddressesMax = 8;  // of one name; the rest is left out

struct NotResolved {
  std::string reason;
};

// The addresses of a host name, in the order the system prefers; an address is its own. The
// system's resolver cannot be interrupted, so it runs on a thread that is left behind when the
// deadline or `abort` comes first; at most 32 such look-ups are under way in the process.
std::variant<std::vector<IpAddress>, NotResolved> resolve(
    const std::string& host, std::chrono::steady_clock::time_point deadline,
    const std::stop_token& abort);

}  // namespace hookgate
