#include "crypto/encoding.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace hookgate {
namespace {

TEST(EncodingTest, WritesHexInLowerCase) {
  EXPECT_EQ(hex_encode("\x01\xAB\xFF"), "01abff");
}

TEST(EncodingTest, ReadsHexOfEitherCase) {
  EXPECT_EQ(hex_decode("01aBFf"), "\x01\xAB\xFF");
}

TEST(EncodingTest, ReadsNoHexAsNoBytes) {
  EXPECT_EQ(hex_decode(""), "");
}

class BadHexTest : public testing::TestWithParam<std::string> {};

TEST_P(BadHexTest, IsRefused) {
  EXPECT_EQ(hex_decode(GetParam()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Hex, BadHexTest,
                         testing::Values("a", "abc", "0x01", "ab:cd", ":ab:", "ab ", " ab", "ag",
                                         "+1", "-1", "\xC3\xA9", std::string("a\0", 2)),
                         [](const auto& row) { return "Text" + std::to_string(row.index); });

// RFC 4648, section 10.
TEST(EncodingTest, WritesTheBase64OfRfc4648) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foo"), "Zm9v");
  EXPECT_EQ(base64_encode("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_encode("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
}

TEST(EncodingTest, UsesTheStandardBase64Alphabet) {
  EXPECT_EQ(base64_encode("\xFB\xEF\xFF"), "++//");
  EXPECT_EQ(base64_decode("++//"), "\xFB\xEF\xFF");
}

TEST(EncodingTest, ReadsPaddedBase64WithoutThePaddingsBytes) {
  EXPECT_EQ(base64_decode("YQ=="), "a");
  EXPECT_EQ(base64_decode("YWI="), "ab");
}

class BadBase64Test : public testing::TestWithParam<std::string> {};

TEST_P(BadBase64Test, IsRefused) {
  EXPECT_EQ(base64_decode(GetParam()), std::nullopt);
}

// Most of these are taken by OpenSSL's decoder.
INSTANTIATE_TEST_SUITE_P(Base64, BadBase64Test,
                         testing::Values("YQ", "YQ=", "Y===", "====", "=", "==", "YQ==YQ==", "Y=Q=",
                                         "YR==", "YWJ=", "YQ==\n", " YQ==", "YQ== ", "Y Q=", "--__",
                                         "YW\nI", std::string("YQ\0=", 4)),
                         [](const auto& row) { return "Text" + std::to_string(row.index); });

RC_GTEST_PROP(EncodingProperty, HexComesBackAsTheSameBytes, (const std::string& bytes)) {
  RC_ASSERT(hex_decode(hex_encode(bytes)) == bytes);
}

RC_GTEST_PROP(EncodingProperty, Base64ComesBackAsTheSameBytes, (const std::string& bytes)) {
  RC_ASSERT(base64_decode(base64_encode(bytes)) == bytes);
}

// So that one signature has one text. Texts are built from few characters, or none would decode.
RC_GTEST_PROP(EncodingProperty, OnlyOneBase64TextStandsForTheBytes, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::element('A', 'Q', 'g', 'w', '/', '+', '=', '\n'));
  const auto bytes = base64_decode(text);
  if (bytes) RC_ASSERT(base64_encode(*bytes) == text);
}

}  // namespace
}  // namespace hookgate
