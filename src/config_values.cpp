#include "config_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <sys/un.h>

namespace hookgate {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// From small to large.
constexpr std::array<Unit, 5> kDurationUnits{
    {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
constexpr std::array<Unit, 4> kSizeUnits{
    {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}};

// What people write instead, in lower case.
using Alias = std::pair<std::string_view, std::string_view>;
constexpr std::array<Alias, 16> kDurationAliases{{{"msec", "ms"},
                                                  {"millis", "ms"},
                                                  {"sec", "s"},
                                                  {"secs", "s"},
                                                  {"second", "s"},
                                                  {"seconds", "s"},
                                                  {"min", "m"},
                                                  {"mins", "m"},
                                                  {"minute", "m"},
                                                  {"minutes", "m"},
                                                  {"hr", "h"},
                                                  {"hour", "h"},
                                                  {"hours", "h"},
                                                  {"day", "d"},
                                                  {"days", "d"},
                                                  {"", "s"}}};
constexpr std::array<Alias, 11> kSizeAliases{{{"byte", "B"},
                                              {"bytes", "B"},
                                              {"k", "KiB"},
                                              {"kb", "KiB"},
                                              {"kib", "KiB"},
                                              {"m", "MiB"},
                                              {"mb", "MiB"},
                                              {"mib", "MiB"},
                                              {"g", "GiB"},
                                              {"gb", "GiB"},
                                              {"", "B"}}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower_case(std::string_view text) {
  std::string lower{text};
  std::ranges::transform(lower, lower.begin(), to_lower);
  return lower;
}

struct NumberAndUnit {
  bool negative = false;
  std::string_view digits;
  std::string_view unit;
};

std::optional<NumberAndUnit> split_unit(std::string_view text) {
  NumberAndUnit split;
  if (text.starts_with('-')) {
    split.negative = true;
    text.remove_prefix(1);
  }
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto digits_size = static_cast<std::size_t>(end - text.begin());
  if (digits_size == 0) return std::nullopt;
  split.digits = text.substr(0, digits_size);
  split.unit = text.substr(digits_size);
  return split;
}

std::optional<std::int64_t> parse_quantity(std::string_view text, std::span<const Unit> units) {
  const auto split = split_unit(text);
  if (!split) return std::nullopt;
  const auto unit = std::ranges::find(units, split->unit, &Unit::name);
  if (unit == units.end()) return std::nullopt;
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  const auto saturated = split->negative ? -kMax : kMax;
  std::int64_t number = 0;
  const auto* const end = split->digits.data() + split->digits.size();
  if (std::from_chars(split->digits.data(), end, number).ec != std::errc{}) return saturated;
  if (number > kMax / unit->factor) return saturated;
  return split->negative ? -number * unit->factor : number * unit->factor;
}

std::optional<std::string> suggest_quantity(std::string_view text, std::span<const Unit> units,
                                            std::span<const Alias> aliases) {
  constexpr std::size_t kSuggestedDigitsMax = 18;
  std::string compact{text};
  std::erase(compact, ' ');
  const auto split = split_unit(compact);
  if (!split || split->negative || split->digits.size() > kSuggestedDigitsMax) return std::nullopt;
  const auto lower = lower_case(split->unit);
  const auto unit = std::ranges::find_if(
      units, [&](const Unit& candidate) { return lower_case(candidate.name) == lower; });
  if (unit != units.end()) return std::string{split->digits} + std::string{unit->name};
  const auto alias = std::ranges::find(aliases, std::string_view{lower}, &Alias::first);
  if (alias == aliases.end()) return std::nullopt;
  return std::string{split->digits} + std::string{alias->second};
}

std::string format_quantity(std::int64_t value, std::span<const Unit> units,
                            std::string_view zero) {
  if (value == 0) return std::string{zero};
  auto unit = units.rbegin();
  while (value % unit->factor != 0) ++unit;  // the smallest factor is 1
  return std::to_string(value / unit->factor) + std::string{unit->name};
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, port);
  if (text.empty() || error != std::errc{} || rest != end) return std::nullopt;
  return port;
}

bool is_address(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return text.find('\0') == std::string::npos &&
         inet_pton(family, text.c_str(), address.data()) == 1;
}

bool is_host_name(std::string_view host) {
  constexpr std::size_t kHostBytesMax = 253;
  const auto is_allowed = [](char c) {
    return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z') || c == '.' || c == '-';
  };
  return !host.empty() && host.size() <= kHostBytesMax && std::ranges::all_of(host, is_allowed);
}

// A host of digits and dots only is meant as IPv4: "127.0.0" is a slip, not a name.
bool is_ipv4_or_name(const std::string& host) {
  const auto is_numeric = [](char c) { return is_digit(c) || c == '.'; };
  if (std::ranges::all_of(host, is_numeric)) return is_address(AF_INET, host);
  return is_host_name(host);
}

std::string normalised(std::string_view word) {
  auto lower = lower_case(word);
  std::ranges::replace(lower, '-', '_');
  return lower;
}

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto width = b.size() + 1;
  std::vector<std::size_t> cost((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return cost[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = a[i - 1] == b[j - 1] ? 0 : 1;
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto milliseconds = parse_quantity(text, kDurationUnits);
  if (!milliseconds) return std::nullopt;
  return std::chrono::milliseconds{*milliseconds};
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  return parse_quantity(text, kSizeUnits);
}

std::optional<std::string> suggest_duration(std::string_view text) {
  return suggest_quantity(text, kDurationUnits, kDurationAliases);
}

std::optional<std::string> suggest_size(std::string_view text) {
  return suggest_quantity(text, kSizeUnits, kSizeAliases);
}

std::string format_duration(std::chrono::milliseconds duration) {
  return format_quantity(duration.count(), kDurationUnits, "0s");
}

std::string format_size(std::int64_t bytes) {
  return format_quantity(bytes, kSizeUnits, "0B");
}

bool ListenAddress::is_loopback() const {
  if (is_address(AF_INET, host)) return host.starts_with("127.");
  in6_addr address{};
  if (inet_pton(AF_INET6, host.c_str(), &address) == 1) return IN6_IS_ADDR_LOOPBACK(&address);
  return lower_case(host) == "localhost";
}

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return std::nullopt;
  std::string host{text.substr(0, colon)};
  const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (in_brackets ? !is_address(AF_INET6, host) : !is_ipv4_or_name(host)) return std::nullopt;
  return ListenAddress{.host = std::move(host), .port = *port};
}

std::optional<std::string> suggest_listen_address(std::string_view text) {
  constexpr std::string_view kDefaultPort = ":8080";
  auto rest = text.substr(text.find("://") == std::string_view::npos ? 0 : text.find("://") + 3);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto colon = rest.rfind(':');
  const std::array<std::string, 5> candidates{
      std::string{rest}, "0.0.0.0" + std::string{rest},  // ":8080"
      "0.0.0.0:" + std::string{rest},                    // "8080"
      colon == std::string_view::npos                    // "::1:8080"
          ? std::string{rest} + std::string{kDefaultPort}
          : "[" + std::string{rest.substr(0, colon)} + "]" + std::string{rest.substr(colon)},
      rest.starts_with("*:") ? "0.0.0.0" + std::string{rest.substr(1)} : ""};
  const auto fits = [](const std::string& candidate) {
    return parse_listen_address(candidate).has_value();
  };
  const auto found = std::ranges::find_if(candidates, fits);
  if (found == candidates.end()) return std::nullopt;
  return *found;
}

std::optional<std::string_view> unix_socket_path(std::string_view listen) {
  constexpr std::string_view kPrefix = "unix:";
  if (!listen.starts_with(kPrefix)) return std::nullopt;
  return listen.substr(kPrefix.size());
}

static_assert(kUnixSocketPathBytesMax == sizeof(sockaddr_un::sun_path) - 1);

bool is_block_name(std::string_view name) {
  constexpr std::size_t kNameBytesMax = 64;
  const auto is_allowed = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, is_allowed);
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  constexpr std::size_t kWordBytesMax = 64;
  if (word.size() > kWordBytesMax) return std::nullopt;
  const auto wanted = normalised(word);
  std::optional<std::string_view> best;
  auto best_distance = std::numeric_limits<std::size_t>::max();
  for (const auto candidate : candidates) {
    const auto distance = edit_distance(wanted, normalised(candidate));
    // A third of the letters may be wrong; more would turn any word into any other.
    const auto distance_max = std::max<std::size_t>(1, candidate.size() / 3);
    if (distance > distance_max || distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace hookgate
