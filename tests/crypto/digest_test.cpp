#include "crypto/digest.h"

#include <string>

#include <gtest/gtest.h>

#include "crypto/encoding.h"

namespace hookgate {
namespace {

std::string sha256_hex(std::string_view bytes) {
  return hex_encode(bytes_of(sha256(bytes)));
}

// FIPS 180-4 examples.
TEST(DigestTest, GivesTheKnownDigestOfNothing) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(DigestTest, GivesTheKnownDigestOfAShortText) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(DigestTest, GivesTheKnownDigestOfAMillionLetters) {
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(DigestTest, ReadsBytesBehindANul) {
  using namespace std::string_view_literals;
  EXPECT_NE(sha256("a\0b"sv), sha256("a\0c"sv));
}

}  // namespace
}  // namespace hookgate
