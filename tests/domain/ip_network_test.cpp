#include "domain/ip_network.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

std::string canonical(std::string_view text) {
  const auto address = IpAddress::parse(text);
  return address ? address->text() : "nothing";
}

std::string canonical_network(std::string_view text) {
  const auto network = IpNetwork::parse(text);
  return network ? network->text() : "nothing";
}

bool contains(std::string_view network, std::string_view address) {
  return IpNetwork::parse(network).value().contains(IpAddress::parse(address).value());
}

TEST(IpAddressTest, ReadsBothKinds) {
  EXPECT_TRUE(IpAddress::parse("203.0.113.7").value().is_v4());
  EXPECT_FALSE(IpAddress::parse("2001:db8::7").value().is_v4());
  EXPECT_EQ(canonical("0.0.0.0"), "0.0.0.0");
  EXPECT_EQ(canonical("255.255.255.255"), "255.255.255.255");
  EXPECT_EQ(canonical("::"), "::");
  EXPECT_EQ(canonical("2001:0DB8:0:0::0007"), "2001:db8::7");
  EXPECT_EQ(canonical("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

TEST(IpAddressTest, TakesAMappedAddressForTheIPv4AddressItIs) {
  EXPECT_EQ(IpAddress::parse("::ffff:203.0.113.7"), IpAddress::parse("203.0.113.7"));
  EXPECT_EQ(IpAddress::parse("::ffff:cb00:7107"), IpAddress::parse("203.0.113.7"));
  EXPECT_EQ(canonical("::ffff:203.0.113.7"), "203.0.113.7");
}

TEST(IpAddressTest, KeepsOtherAddressesThatHoldAnIPv4Address) {
  EXPECT_FALSE(IpAddress::parse("::203.0.113.7").value().is_v4());
  EXPECT_FALSE(IpAddress::parse("64:ff9b::203.0.113.7").value().is_v4());
}

TEST(IpAddressTest, TellsIPv4FromTheIPv6AddressOfTheSameBytes) {
  EXPECT_NE(IpAddress::parse("1.2.3.4"), IpAddress::parse("102:304::"));
}

TEST(IpAddressTest, RefusesWhatIsNoPlainAddress) {
  using std::string_view_literals::operator""sv;
  for (const auto text : {""sv,
                          " "sv,
                          "1.2.3"sv,
                          "1.2.3.4.5"sv,
                          "1.2.3.256"sv,
                          "1.2.3.-4"sv,
                          "01.2.3.4"sv,
                          "1.2.3.04"sv,
                          "1.2.3.4 "sv,
                          " 1.2.3.4"sv,
                          "1.2.3.4:80"sv,
                          "0x1.2.3.4"sv,
                          "16909060"sv,
                          "1.2.3.4/32"sv,
                          "1.2.3.4\0"sv,
                          "1.2.3.4\0x"sv,
                          "[::1]"sv,
                          "[::1]:80"sv,
                          "::1%lo"sv,
                          "fe80::1%1"sv,
                          ":::"sv,
                          "1::2::3"sv,
                          "12345::"sv,
                          "::g"sv,
                          "1:2:3:4:5:6:7"sv,
                          "1:2:3:4:5:6:7:8:9"sv,
                          "::1\0"sv,
                          "::ffff:1.2.3.256"sv,
                          "unknown"sv,
                          "localhost"sv,
                          "1.2.3.4, 5.6.7.8"sv,
                          "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255x"sv})
    EXPECT_EQ(canonical(text), "nothing") << text;
  EXPECT_EQ(canonical(std::string(100'000, '1')), "nothing");
}

TEST(IpNetworkTest, TakesABareAddressForItselfAlone) {
  EXPECT_TRUE(contains("203.0.113.7", "203.0.113.7"));
  EXPECT_FALSE(contains("203.0.113.7", "203.0.113.6"));
  EXPECT_TRUE(contains("2001:db8::7", "2001:db8::7"));
  EXPECT_FALSE(contains("2001:db8::7", "2001:db8::8"));
  EXPECT_EQ(canonical_network("203.0.113.7"), "203.0.113.7");
  EXPECT_EQ(canonical_network("203.0.113.7/32"), "203.0.113.7");
}

struct EdgeCase {
  std::string_view network;
  std::string_view first;
  std::string_view last;
  std::string_view before;
  std::string_view after;
};

TEST(IpNetworkTest, EndsWhereItsPrefixSays) {
  for (const auto& edge :
       {EdgeCase{"10.0.0.0/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"},
        EdgeCase{"192.0.2.128/25", "192.0.2.128", "192.0.2.255", "192.0.2.127", "192.0.3.0"},
        EdgeCase{"172.16.0.0/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"},
        EdgeCase{"128.0.0.0/1", "128.0.0.0", "255.255.255.255", "127.255.255.255", "0.0.0.0"},
        EdgeCase{"192.0.2.6/31", "192.0.2.6", "192.0.2.7", "192.0.2.5", "192.0.2.8"},
        EdgeCase{"2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
                 "2001:db7:ffff::", "2001:db9::"},
        EdgeCase{"fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                 "fbff::", "fe00::"},
        EdgeCase{"2001:db8::fffe/127", "2001:db8::fffe", "2001:db8::ffff", "2001:db8::fffd",
                 "2001:db8::1:0"}}) {
    EXPECT_TRUE(contains(edge.network, edge.first)) << edge.network;
    EXPECT_TRUE(contains(edge.network, edge.last)) << edge.network;
    EXPECT_FALSE(contains(edge.network, edge.before)) << edge.network;
    EXPECT_FALSE(contains(edge.network, edge.after)) << edge.network;
    EXPECT_EQ(canonical_network(edge.network), edge.network);
  }
}

TEST(IpNetworkTest, OfNoPrefixHoldsAllAddressesOfItsKindOnly) {
  EXPECT_TRUE(contains("0.0.0.0/0", "255.255.255.255"));
  EXPECT_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(contains("::/0", "2001:db8::1"));
  EXPECT_FALSE(contains("::/0", "203.0.113.7"));
  EXPECT_FALSE(contains("::/0", "::ffff:203.0.113.7"));
}

TEST(IpNetworkTest, HoldsMappedAddressesAsTheIPv4AddressesTheyAre) {
  EXPECT_TRUE(contains("10.0.0.0/8", "::ffff:10.1.2.3"));
  EXPECT_TRUE(contains("::ffff:10.0.0.0/104", "10.1.2.3"));
  EXPECT_FALSE(contains("::ffff:10.0.0.0/104", "11.1.2.3"));
  EXPECT_EQ(canonical_network("::ffff:10.0.0.0/104"), "10.0.0.0/8");
  EXPECT_EQ(canonical_network("::ffff:0.0.0.0/96"), "0.0.0.0/0");
}

TEST(IpNetworkTest, RefusesBadSyntaxAndBadPrefixes) {
  for (const std::string_view text : {"",
                                      "/",
                                      "/8",
                                      "10.0.0.0/",
                                      "10.0.0.0/33",
                                      "10.0.0.0/-1",
                                      "10.0.0.0/+8",
                                      "10.0.0.0/08",
                                      "10.0.0.0/8 ",
                                      "10.0.0.0 /8",
                                      "10.0.0.0/ 8",
                                      "10.0.0.0/8/8",
                                      "10.0.0.0/255.0.0.0",
                                      "10.0.0.0/4294967304",
                                      "10.0.0.0/99999999999999999999",
                                      "10/8",
                                      "10.0.0/8",
                                      "10.*",
                                      "10.0.0.0-10.0.0.9",
                                      "::/129",
                                      "[::1]/128",
                                      "fe80::%lo/10",
                                      "::ffff:0.0.0.0/95",
                                      "::ffff:10.0.0.0/8",
                                      "::ffff:10.0.0.0/129",
                                      "localhost",
                                      "*"})
    EXPECT_EQ(canonical_network(text), "nothing") << text;
}

TEST(IpNetworkTest, RefusesBitsBehindThePrefix) {
  for (const std::string_view text :
       {"10.0.0.1/8", "192.0.2.129/25", "192.0.2.1/0", "192.0.2.7/31", "2001:db8::1/32",
        "2001:db8:8000::/32", "::1/0", "2001:db8::1/127", "::ffff:10.0.0.1/104"})
    EXPECT_EQ(canonical_network(text), "nothing") << text;
}

}  // namespace
}  // namespace hookgate
