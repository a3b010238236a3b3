#include "ingest/client_address.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

TrustedProxies trusting(const std::vector<std::string_view>& networks, bool unix_socket = false) {
  TrustedProxies trusted;
  for (const auto network : networks) trusted.networks.push_back(IpNetwork::parse(network).value());
  trusted.unix_socket = unix_socket;
  return trusted;
}

struct ClientCase {
  std::string_view why;
  std::string_view peer;
  std::vector<Header> headers;
  std::string_view client;
};

std::string client_of(const ClientCase& given, const TrustedProxies& trusted) {
  InboundRequest head;
  head.remote_address = given.peer;
  head.headers = given.headers;
  const auto client = client_address(head, trusted);
  return client ? client->text() : "nobody";
}

Header forwarded_for(std::string value) {
  return {"X-Forwarded-For", std::move(value)};
}

// Proxies are 10.0.0.0/8, 2001:db8::/64 and 192.0.2.1; clients are of 203.0.113.0/24.
const TrustedProxies& proxies() {
  static const auto trusted = trusting({"10.0.0.0/8", "2001:db8::/64", "192.0.2.1"});
  return trusted;
}

TEST(ClientAddressTest, IsTheRightMostHopThatIsNoProxyOfOurs) {
  for (const auto& given : std::vector<ClientCase>{
           {"no header", "10.0.0.1", {}, "10.0.0.1"},
           {"one hop", "10.0.0.1", {forwarded_for("203.0.113.7")}, "203.0.113.7"},
           {"a chain",
            "10.0.0.1",
            {forwarded_for("203.0.113.7, 10.0.0.2,10.9.9.9")},
            "203.0.113.7"},
           {"all are ours", "10.0.0.1", {forwarded_for("10.0.0.3, 10.0.0.2")}, "10.0.0.3"},
           {"IPv6 proxies",
            "2001:db8::1",
            {forwarded_for("2001:db8:1::7, 2001:db8::2")},
            "2001:db8:1::7"},
           {"a mapped peer", "::ffff:10.0.0.1", {forwarded_for("203.0.113.7")}, "203.0.113.7"},
           {"a mapped hop",
            "10.0.0.1",
            {forwarded_for("203.0.113.7, ::ffff:10.0.0.2")},
            "203.0.113.7"},
           {"other letters", "10.0.0.1", {{"x-FORWARDED-for", "203.0.113.7"}}, "203.0.113.7"},
           {"blanks", "10.0.0.1", {forwarded_for(" \t203.0.113.7\t ,\t10.0.0.2 ")}, "203.0.113.7"},
       })
    EXPECT_EQ(client_of(given, proxies()), given.client) << given.why;
}

TEST(ClientAddressTest, ReadsSeveralHeadersAsOneList) {
  EXPECT_EQ(client_of({"",
                       "10.0.0.1",
                       {forwarded_for("198.51.100.1, 203.0.113.7"),
                        {"Host", "a"},
                        forwarded_for("10.0.0.3"),
                        forwarded_for("10.0.0.2")},
                       ""},
                      proxies()),
            "203.0.113.7");
  EXPECT_EQ(client_of({"",
                       "10.0.0.1",
                       {forwarded_for("198.51.100.1"), forwarded_for("203.0.113.7, 10.0.0.2")},
                       ""},
                      proxies()),
            "203.0.113.7");
}

TEST(ClientAddressTest, TakesHopsWithPorts) {
  for (const auto& given : std::vector<ClientCase>{
           {"IPv4", "10.0.0.1", {forwarded_for("203.0.113.7:5678, 10.0.0.2:1")}, "203.0.113.7"},
           {"IPv6",
            "10.0.0.1",
            {forwarded_for("[2001:db8:1::7]:99, [2001:db8::2]:443")},
            "2001:db8:1::7"},
           {"brackets alone", "10.0.0.1", {forwarded_for("[2001:db8:1::7]")}, "2001:db8:1::7"},
           {"no brackets", "10.0.0.1", {forwarded_for("2001:db8:1::7:99")}, "2001:db8:1::7:99"},
       })
    EXPECT_EQ(client_of(given, proxies()), given.client) << given.why;
}

TEST(ClientAddressTest, IsThePeerWhenThatIsNoProxyOfOurs) {
  for (const auto& given : std::vector<ClientCase>{
           {"a forged hop", "203.0.113.7", {forwarded_for("198.51.100.1")}, "203.0.113.7"},
           {"a forged proxy",
            "203.0.113.7",
            {forwarded_for("198.51.100.1, 10.0.0.1")},
            "203.0.113.7"},
           {"a neighbour", "192.0.2.2", {forwarded_for("198.51.100.1")}, "192.0.2.2"},
           {"IPv6", "2001:db8:0:1::1", {forwarded_for("198.51.100.1")}, "2001:db8:0:1::1"},
       })
    EXPECT_EQ(client_of(given, proxies()), given.client) << given.why;
}

// What the client wrote itself always stands left of what our proxy appended.
TEST(ClientAddressTest, IsNotTakenFromWhatTheClientWrote) {
  for (const auto& given : std::vector<ClientCase>{
           {"an allowed address",
            "10.0.0.1",
            {forwarded_for("198.51.100.1, 203.0.113.7")},
            "203.0.113.7"},
           {"a proxy of ours", "10.0.0.1", {forwarded_for("10.0.0.9, 203.0.113.7")}, "203.0.113.7"},
           {"a header of its own",
            "10.0.0.1",
            {forwarded_for("198.51.100.1"), forwarded_for("203.0.113.7")},
            "203.0.113.7"},
           {"another header",
            "10.0.0.1",
            {{"Forwarded", "for=198.51.100.1"},
             {"X-Real-IP", "198.51.100.1"},
             {"X_Forwarded_For", "198.51.100.1"},
             {"X-Forwarded-For ", "198.51.100.1"},
             forwarded_for("203.0.113.7")},
            "203.0.113.7"},
           {"many",
            "10.0.0.1",
            {forwarded_for(std::string(9'999, ',') + "203.0.113.7")},
            "203.0.113.7"},
       })
    EXPECT_EQ(client_of(given, proxies()), given.client) << given.why;
}

TEST(ClientAddressTest, EndsAtAnEntryThatIsNoAddressWithTheHopBefore) {
  for (const std::string_view entry : {"unknown",
                                       "",
                                       " ",
                                       "_hidden",
                                       "203.0.113.7x",
                                       "203.0.113.7:",
                                       "203.0.113.7:x",
                                       "203.0.113.7:123456",
                                       "203.0.113.07",
                                       "[203.0.113.7]",
                                       "[2001:db8:1::7",
                                       "[]",
                                       "[::1]99",
                                       "[::1]:",
                                       "2001:db8:1::7]",
                                       "\"203.0.113.7\"",
                                       "203.0.113.7;10.0.0.2",
                                       "203.0.113.7 10.0.0.2",
                                       "fe80::1%eth0",
                                       "for=203.0.113.7"}) {
    const auto list = "198.51.100.1, " + std::string{entry};
    EXPECT_EQ(client_of({"", "10.0.0.1", {forwarded_for(list)}, ""}, proxies()), "10.0.0.1")
        << entry;
    EXPECT_EQ(client_of({"", "10.0.0.1", {forwarded_for(list + ", 10.0.0.2")}, ""}, proxies()),
              "10.0.0.2")
        << entry;
  }
}

TEST(ClientAddressTest, OfAUnixSocketIsUnknownUnlessTheSocketIsTrusted) {
  const auto believing = trusting({"10.0.0.0/8"}, true);
  const ClientCase forwarded{"", "", {forwarded_for("198.51.100.1, 203.0.113.7, 10.0.0.2")}, ""};
  EXPECT_EQ(client_of(forwarded, believing), "203.0.113.7");
  EXPECT_EQ(client_of(forwarded, proxies()), "nobody");
  EXPECT_EQ(client_of({"", "", {}, ""}, believing), "nobody");
  EXPECT_EQ(client_of({"", "", {forwarded_for("198.51.100.1, x")}, ""}, believing), "nobody");
}

TEST(ClientAddressTest, OfAPeerThatIsNoAddressIsUnknown) {
  EXPECT_EQ(client_of({"", "pipe", {forwarded_for("203.0.113.7")}, ""},
                      trusting({"0.0.0.0/0", "::/0"}, true)),
            "nobody");
}

}  // namespace
}  // namespace hookgate
