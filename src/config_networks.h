#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config_reader.h"
#include "domain/ip_network.h"

namespace hookgate {

inline constexpr std::size_t kNetworksMax = 1'000;  // of one list: a request may be tried on all

// A CIDR block or an address. Throws ConfigError, with what was most likely meant.
IpNetwork read_network(const ConfigBlock& block, std::string_view key, const ConfigText& text);

// The CIDR blocks that `key` lists; a key that is left out lists none.
std::vector<IpNetwork> read_networks(const ConfigBlock& block, std::string_view key);

// What a user who wrote `text` for a block most likely meant ("10.0.0.1/8": "10.0.0.0/8",
// "[::1]": "::1"), or nothing.
std::optional<std::string> suggest_network(std::string_view text);

}  // namespace hookgate
