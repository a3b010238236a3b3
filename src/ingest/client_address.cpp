#include "ingest/client_address.h"

#include <algorithm>
#include <string_view>

namespace hookgate {
namespace {

constexpr std::string_view kForwardedFor = "x-forwarded-for";
constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool is_port(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= 5 && std::ranges::all_of(text, is_digit);
}

// "192.0.2.1", "192.0.2.1:5678", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:99".
std::optional<IpAddress> parse_hop(std::string_view text) {
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const auto rest = text.substr(end + 1);
    const auto inside = text.substr(1, end - 1);
    const bool is_v6 = inside.find(':') != std::string_view::npos;
    if (!is_v6 || (!rest.empty() && !(rest.front() == ':' && is_port(rest.substr(1)))))
      return std::nullopt;
    return IpAddress::parse(inside);
  }
  const auto colon = text.find(':');
  const bool has_port = colon != std::string_view::npos && colon == text.rfind(':');
  if (!has_port) return IpAddress::parse(text);
  if (!is_port(text.substr(colon + 1))) return std::nullopt;
  return IpAddress::parse(text.substr(0, colon));
}

// Where the walk over the hops stands: the nearest one seen so far, and whether to go on.
struct Walk {
  std::optional<IpAddress> client;
  bool is_over = false;
};

void step(Walk& walk, std::string_view entry, const TrustedProxies& trusted) {
  const auto hop = parse_hop(trimmed(entry));
  if (hop) walk.client = hop;
  walk.is_over = !hop || !trusted.contains(*hop);
}

// The entries of one header line, from right to left.
void walk_line(Walk& walk, std::string_view line, const TrustedProxies& trusted) {
  while (!walk.is_over) {
    const auto comma = line.rfind(',');
    if (comma == std::string_view::npos) {
      step(walk, line, trusted);
      return;
    }
    step(walk, line.substr(comma + 1), trusted);
    line = line.substr(0, comma);
  }
}

}  // namespace

bool TrustedProxies::contains(const IpAddress& address) const {
  return std::ranges::any_of(networks,
                             [&](const IpNetwork& network) { return network.contains(address); });
}

std::optional<IpAddress> client_address(const InboundRequest& head, const TrustedProxies& trusted) {
  Walk walk;
  if (head.remote_address.empty()) {
    walk.is_over = !trusted.unix_socket;
  } else {
    walk.client = IpAddress::parse(head.remote_address);
    walk.is_over = !walk.client || !trusted.contains(*walk.client);
  }
  // Several header lines are one list, in their order.
  for (auto header = head.headers.rbegin(); header != head.headers.rend() && !walk.is_over;
       ++header) {
    if (equal_ignoring_case(header->name, kForwardedFor)) walk_line(walk, header->value, trusted);
  }
  return walk.client;
}

}  // namespace hookgate
