#include "domain/http_message.h"

#include <gtest/gtest.h>

namespace hookgate {
namespace {

InboundRequest a_request() {
  InboundRequest request;
  request.target = "/webhooks/stripe?live=1&x=?";
  request.headers = {
      {"Content-Type", "application/json"}, {"X-Signature", "first"}, {"x-signature", "second"}};
  return request;
}

TEST(HttpMessageTest, ComparesNamesWithoutLetterCase) {
  EXPECT_TRUE(equal_ignoring_case("Stripe-Signature", "sTRIPE-sIGNATURE"));
  EXPECT_FALSE(equal_ignoring_case("Stripe-Signature", "Stripe-Signatur"));
  EXPECT_FALSE(equal_ignoring_case("a-b", "a_b"));
}

TEST(HttpMessageTest, FoldsTheCaseOfAsciiLettersOnly) {
  EXPECT_FALSE(equal_ignoring_case("\xC3\xA4", "\xC3\x84"));
  EXPECT_FALSE(equal_ignoring_case("[", "{"));
}

TEST(HttpMessageTest, CutsTheQueryOffThePath) {
  EXPECT_EQ(a_request().path(), "/webhooks/stripe");
}

TEST(HttpMessageTest, TakesATargetWithoutAQueryAsItsPath) {
  InboundRequest request;
  request.target = "/healthz";
  EXPECT_EQ(request.path(), "/healthz");
}

TEST(HttpMessageTest, FindsTheFirstHeaderOfAName) {
  const auto request = a_request();
  EXPECT_EQ(request.header("X-SIGNATURE"), "first");
}

TEST(HttpMessageTest, FindsNothingForAnAbsentHeader) {
  const auto request = a_request();
  EXPECT_EQ(request.header("X-Other"), std::nullopt);
  EXPECT_EQ(request.header_count("X-Other"), 0U);
}

TEST(HttpMessageTest, CountsHeadersOfOneNameInAnyCase) {
  EXPECT_EQ(a_request().header_count("X-Signature"), 2U);
}

}  // namespace
}  // namespace hookgate
