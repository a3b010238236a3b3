#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hookgate {

// An IPv4 or IPv6 address. An IPv4 address mapped into IPv6 (::ffff:1.2.3.4) is the IPv4 address,
// as a socket that takes both kinds reports its peers so.
class IpAddress {
 public:
  // Nothing for what is no plain address: no port, no brackets, no leading zeros, no scope.
  static std::optional<IpAddress> parse(std::string_view text);

  bool is_v4() const { return is_v4_; }
  std::string text() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

 private:
  friend class IpNetwork;
  bool is_v4_ = false;
  std::array<std::uint8_t, 16> bytes_{};  // the first 4 of an IPv4 address
};

// A CIDR block; a bare address is the block of that address alone.
class IpNetwork {
 public:
  // Nothing for bad syntax, a prefix out of range, and bits set behind the prefix (10.0.0.1/8 is a
  // slip of somebody who meant something else).
  static std::optional<IpNetwork> parse(std::string_view text);

  bool contains(const IpAddress& address) const;
  std::string text() const;

 private:
  IpAddress base_;
  int prefix_bits_ = 0;
};

}  // namespace hookgate
