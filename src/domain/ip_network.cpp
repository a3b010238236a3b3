#include "domain/ip_network.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace hookgate {
namespace {

constexpr int kBitsV4 = 32;
constexpr int kBitsV6 = 128;
constexpr int kMappedPrefixBits = 96;  // of ::ffff:0:0/96

// An address whose text looked like IPv6 counts its prefix in IPv6 bits, mapped or not.
bool is_written_as_v6(std::string_view text) {
  return text.find(':') != std::string_view::npos;
}

// Digits only, no sign, no leading zero.
std::optional<int> parse_prefix(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  int bits = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, bits);
  if (error != std::errc{} || rest != end || bits < 0) return std::nullopt;
  return bits;
}

// The bits of byte `index` that lie before the prefix ends.
std::uint8_t mask_of(int prefix_bits, std::size_t index) {
  const int bits = std::clamp(prefix_bits - static_cast<int>(index) * 8, 0, 8);
  return static_cast<std::uint8_t>(0xff00 >> bits);
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  // A NUL inside would end the text early for the C function.
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos)
    return std::nullopt;
  std::ranges::copy(text, terminated.begin());

  IpAddress address;
  if (!is_written_as_v6(text)) {
    address.is_v4_ = true;
    if (inet_pton(AF_INET, terminated.data(), address.bytes_.data()) != 1) return std::nullopt;
    return address;
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, terminated.data(), &v6) != 1) return std::nullopt;
  address.is_v4_ = IN6_IS_ADDR_V4MAPPED(&v6);
  std::copy(std::cbegin(v6.s6_addr) + (address.is_v4_ ? kMappedPrefixBits / 8 : 0),
            std::cend(v6.s6_addr), address.bytes_.begin());
  return address;
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(is_v4_ ? AF_INET : AF_INET6, bytes_.data(), text.data(), text.size());
  return text.data();
}

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const auto slash = text.find('/');
  const auto base = IpAddress::parse(text.substr(0, slash));
  if (!base) return std::nullopt;

  IpNetwork network;
  network.base_ = *base;
  const int bits = base->is_v4() ? kBitsV4 : kBitsV6;
  network.prefix_bits_ = bits;
  if (slash == std::string_view::npos) return network;

  auto prefix = parse_prefix(text.substr(slash + 1));
  if (!prefix) return std::nullopt;
  if (base->is_v4() && is_written_as_v6(text.substr(0, slash))) *prefix -= kMappedPrefixBits;
  if (*prefix < 0 || *prefix > bits) return std::nullopt;
  network.prefix_bits_ = *prefix;
  for (std::size_t i = 0; i < base->bytes_.size(); ++i) {
    if ((base->bytes_[i] & ~mask_of(*prefix, i)) != 0) return std::nullopt;
  }
  return network;
}

bool IpNetwork::contains(const IpAddress& address) const {
  if (address.is_v4_ != base_.is_v4_) return false;
  const auto whole_bytes = static_cast<std::size_t>(prefix_bits_ / 8);
  if (!std::equal(base_.bytes_.begin(), base_.bytes_.begin() + prefix_bits_ / 8,
                  address.bytes_.begin()))
    return false;
  if (prefix_bits_ % 8 == 0) return true;
  const auto mask = mask_of(prefix_bits_, whole_bytes);
  return (address.bytes_[whole_bytes] & mask) == base_.bytes_[whole_bytes];
}

std::string IpNetwork::text() const {
  if (prefix_bits_ == (base_.is_v4() ? kBitsV4 : kBitsV6)) return base_.text();
  return base_.text() + "/" + std::to_string(prefix_bits_);
}

}  // namespace hookgate
