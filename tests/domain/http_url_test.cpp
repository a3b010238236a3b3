#include "domain/http_url.h"

#include <gtest/gtest.h>

namespace hookgate {
namespace {

HttpUrl url(std::string_view text) {
  auto parsed = parse_http_url(text);
  if (const auto* const bad = std::get_if<BadHttpUrl>(&parsed))
    ADD_FAILURE() << text << bad->reason;
  return std::holds_alternative<HttpUrl>(parsed) ? std::get<HttpUrl>(parsed) : HttpUrl{};
}

std::string reason(std::string_view text) {
  const auto parsed = parse_http_url(text);
  const auto* const bad = std::get_if<BadHttpUrl>(&parsed);
  return bad == nullptr ? "accepted" : bad->reason;
}

TEST(HttpUrlTest, HasTheSchemesOwnPort) {
  EXPECT_EQ(url("https://crm.test/hooks").port, 443);
  EXPECT_EQ(url("http://crm.test/hooks").port, 80);
  EXPECT_TRUE(url("HTTPS://crm.test/").is_tls);
  EXPECT_EQ(url("https://crm.test/hooks").authority(), "crm.test");
  EXPECT_EQ(url("https://crm.test:443/hooks").authority(), "crm.test");
}

TEST(HttpUrlTest, TakesAPortAndAnAddress) {
  const auto v6 = url("http://[2001:db8::1]:8080/a");
  EXPECT_EQ(v6.host, "2001:db8::1");
  EXPECT_EQ(v6.port, 8080);
  EXPECT_EQ(v6.authority(), "[2001:db8::1]:8080");
  EXPECT_EQ(url("http://127.0.0.1:1/").authority(), "127.0.0.1:1");
}

TEST(HttpUrlTest, KeepsTheTargetAsItIsWritten) {
  EXPECT_EQ(url("http://a/b%2Fc/../d?x=%20&y").target, "/b%2Fc/../d?x=%20&y");
  EXPECT_EQ(url("http://a").target, "/");
  EXPECT_EQ(url("http://a?x").target, "/?x");
}

TEST(HttpUrlTest, RefusesWhatCannotBeRequested) {
  EXPECT_EQ(reason("crm.test/hooks"), "does not begin with https:// or http://");
  EXPECT_EQ(reason("ftp://crm.test/"), "does not begin with https:// or http://");
  EXPECT_EQ(reason("https:///hooks"), "has no host");
  EXPECT_EQ(reason("https://:80/"), "has no host");
  EXPECT_EQ(reason("https://a:0/"), "has a port that is no number from 1 to 65535");
  EXPECT_EQ(reason("https://a:70000/"), "has a port that is no number from 1 to 65535");
  EXPECT_EQ(reason("https://a:/"), "has a port that is no number from 1 to 65535");
  EXPECT_EQ(reason("https://[::1/"), "has no ']'");
  EXPECT_EQ(reason("https://[::1]x/"), "has a port that is no number from 1 to 65535");
  EXPECT_EQ(reason("https://[a]/"), "has a host that is no name or address");
  EXPECT_EQ(reason("https://a,b/"), "has a host that is no name or address");
  EXPECT_EQ(reason("https://a/#top"), "has a fragment ('#')");
  EXPECT_EQ(reason("https://" + std::string(3000, 'a')), "is longer than 2048 bytes");
}

TEST(HttpUrlTest, RefusesWhatWouldWriteAnotherRequest) {
  for (const auto* text : {"https://a/b c", "https://a/\r\nX: y", "https://a/\xC3\xA9"}) {
    EXPECT_EQ(reason(text), "holds a blank or a character that is not printable ASCII");
  }
}

TEST(HttpUrlTest, RefusesCredentialsAndDoesNotRepeatThem) {
  EXPECT_EQ(reason("https://user:invented@a/"), "holds a user or a password");
}

}  // namespace
}  // namespace hookgate
