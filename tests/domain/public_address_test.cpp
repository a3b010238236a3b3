#include "domain/public_address.h"

#include <gtest/gtest.h>

namespace hookgate {
namespace {

bool is_public(std::string_view text) {
  return is_public_address(IpAddress::parse(text).value());
}

TEST(PublicAddressTest, KnowsThoseOfTheInternet) {
  for (const auto* text : {"8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.63.255.255",
                           "2606:4700::1111", "2a00:1450:4001::200e"}) {
    EXPECT_TRUE(is_public(text)) << text;
  }
}

TEST(PublicAddressTest, KnowsThoseOfThisMachineAndItsNetworks) {
  for (const auto* text :
       {"0.0.0.0", "127.0.0.1", "127.255.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255",
        "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255", "::", "::1",
        "fe80::1", "fc00::1", "fd12::1", "ff02::1"}) {
    EXPECT_FALSE(is_public(text)) << text;
  }
}

TEST(PublicAddressTest, SeesThroughIpv6ThatStandsForIpv4) {
  EXPECT_FALSE(is_public("::ffff:127.0.0.1"));
  EXPECT_TRUE(is_public("::ffff:8.8.8.8"));
  EXPECT_FALSE(is_public("64:ff9b::7f00:1"));
  EXPECT_FALSE(is_public("2002:7f00:1::"));
  EXPECT_FALSE(is_public("2001:0:7f00:1::"));
}

}  // namespace
}  // namespace hookgate
