#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hookgate {

// Instants of ours: UTC, microseconds, like PostgreSQL's timestamptz.
using SystemTime = std::chrono::sys_time<std::chrono::microseconds>;

// Where "now" comes from. Tests give a fixed one; production gives system_now. Called from any
// thread.
using Clock = std::function<SystemTime()>;

SystemTime system_now();

// Unix seconds written as 1 to 12 ASCII digits and nothing else (no sign, blank or fraction, and no
// leading zero but for "0" itself), so that the text signed and the number compared are one thing.
std::optional<SystemTime> parse_unix_seconds(std::string_view text);

// RFC 3339 instant with `Z` or a numeric offset ("2026-01-01T01:00:00+01:00"), fraction optional.
// Any offset minute is taken (vendors send "+02:12"). Nothing for a text that is no instant.
std::optional<SystemTime> parse_instant(std::string_view text);

// "2026-01-01T00:00:00Z"; six digits of fraction only when there is one.
std::string format_instant(SystemTime instant);

// Whole seconds since 1970, rounded down.
long long unix_seconds(SystemTime instant);

}  // namespace hookgate
