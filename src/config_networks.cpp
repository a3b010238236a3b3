#include "config_networks.h"

#include <array>
#include <charconv>

#include <arpa/inet.h>

#include "config_file.h"

namespace hookgate {

namespace {

std::string_view without_blanks_and_brackets(std::string_view text) {
  constexpr std::string_view kLeftOut = " \t[]";
  const auto first = text.find_first_not_of(kLeftOut);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kLeftOut) - first + 1);
}

// The address of that text with what is behind the first `bits` cleared.
std::optional<std::string> masked(const std::string& address, int bits) {
  const int family = address.find(':') == std::string::npos ? AF_INET : AF_INET6;
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (inet_pton(family, address.c_str(), bytes.data()) != 1) return std::nullopt;
  for (auto& byte : bytes) {
    if (bits < 8) byte = static_cast<unsigned char>(byte & (0xff00 >> (bits > 0 ? bits : 0)));
    bits -= 8;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr) return std::nullopt;
  return text.data();
}

}  // namespace

IpNetwork read_network(const ConfigBlock& block, std::string_view key, const ConfigText& text) {
  if (const auto network = IpNetwork::parse(text.value)) return *network;
  const auto meant = text.is_reference ? std::nullopt : suggest_network(text.value);
  block.fail(key, text.at,
             R"(must list CIDR blocks such as "10.0.0.0/8", found )" + text.shown +
                 (meant ? "; write " + in_quotes(*meant) : ""));
}

std::vector<IpNetwork> read_networks(const ConfigBlock& block, std::string_view key) {
  std::vector<IpNetwork> networks;
  const auto texts = block.texts(key, kNetworksMax);
  if (!texts) return networks;
  networks.reserve(texts->size());
  for (const auto& text : *texts) networks.push_back(read_network(block, key, text));
  return networks;
}

std::optional<std::string> suggest_network(std::string_view text) {
  const auto bare = without_blanks_and_brackets(text);
  if (const auto network = IpNetwork::parse(bare)) return std::string{bare};
  const auto slash = bare.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto prefix = bare.substr(slash + 1);
  int bits = 0;
  const auto* const end = prefix.data() + prefix.size();
  const auto [rest, error] = std::from_chars(prefix.data(), end, bits);
  if (error != std::errc{} || rest != end) return std::nullopt;
  const auto base = masked(std::string{bare.substr(0, slash)}, bits);
  if (!base) return std::nullopt;
  auto meant = *base + "/" + std::to_string(bits);
  if (!IpNetwork::parse(meant)) return std::nullopt;
  return meant;
}

}  // namespace hookgate
