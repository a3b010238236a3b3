#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hookgate {

// "5s": a whole number and one of ms s m h d. A leading '-' is read, so that the caller can say
// what is wrong with it. What does not fit gives the largest (smallest) value. Nothing for others.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// "64KiB": a whole number and one of B KiB MiB GiB; else as parse_duration.
std::optional<std::int64_t> parse_size(std::string_view text);

// What a user who wrote `text` for a duration or size most likely meant ("5min": "5m", "1MB":
// "1MiB"), or nothing.
std::optional<std::string> suggest_duration(std::string_view text);
std::optional<std::string> suggest_size(std::string_view text);

// In the largest unit that leaves no rest: "36h", "1MiB".
std::string format_duration(std::chrono::milliseconds duration);
std::string format_size(std::int64_t bytes);

struct ListenAddress {
  std::string host;        // IPv4, IPv6 without brackets, or a host name
  std::uint16_t port = 0;  // 0: any free one

  // 127.0.0.0/8, ::1 or "localhost".
  bool is_loopback() const;
};

// "127.0.0.1:8080", "[::1]:0", "localhost:8080". Nothing for what is not host:port; no name is
// looked up.
std::optional<ListenAddress> parse_listen_address(std::string_view text);
std::optional<std::string> suggest_listen_address(std::string_view text);

// The path in "unix:/path", not checked; nothing for other addresses.
std::optional<std::string_view> unix_socket_path(std::string_view listen);
inline constexpr std::size_t kUnixSocketPathBytesMax = 107;  // sun_path less its end

// 1 to 64 of a-z 0-9 _ -: may stand in a path and as a metric's label.
bool is_block_name(std::string_view name);

// Only white space, or nothing at all.
bool is_blank(std::string_view text);

// The candidate that `word` is most likely a slip of, by edit distance, or nothing when none is
// close. Letter case and '-' against '_' do not count.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

}  // namespace hookgate
