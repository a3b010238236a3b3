#include "domain/public_address.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace hookgate {
namespace {

constexpr std::array<std::string_view, 16> kNotPublicV4{
    "0.0.0.0/8",      "10.0.0.0/8",     "100.64.0.0/10", "127.0.0.0/8",
    "169.254.0.0/16", "172.16.0.0/12",  "192.0.0.0/24",  "192.0.2.0/24",
    "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4",   "255.255.255.255"};

// Of IPv6 only the global unicast block is in use; these are the parts of it that are not public.
constexpr std::string_view kGlobalUnicast = "2000::/3";
constexpr std::array<std::string_view, 4> kNotPublicV6{"2001::/23", "2001:db8::/32", "2002::/16",
                                                       "3fff::/20"};

template <std::size_t Count>
std::vector<IpNetwork> networks(const std::array<std::string_view, Count>& texts) {
  std::vector<IpNetwork> parsed;
  for (const auto text : texts) parsed.push_back(IpNetwork::parse(text).value());
  return parsed;
}

bool is_in(const std::vector<IpNetwork>& blocks, const IpAddress& address) {
  return std::ranges::any_of(blocks,
                             [&](const IpNetwork& block) { return block.contains(address); });
}

}  // namespace

bool is_public_address(const IpAddress& address) {
  static const auto not_public_v4 = networks(kNotPublicV4);
  static const auto not_public_v6 = networks(kNotPublicV6);
  static const auto global_unicast = IpNetwork::parse(kGlobalUnicast).value();
  if (address.is_v4()) return !is_in(not_public_v4, address);
  return global_unicast.contains(address) && !is_in(not_public_v6, address);
}

}  // namespace hookgate
