#include "crypto/constant_time.h"

#include <string_view>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

using namespace std::string_view_literals;

TEST(ConstantTimeTest, FindsTheSameBytesEqual) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
}

TEST(ConstantTimeTest, FindsADifferenceInTheLastByte) {
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
}

TEST(ConstantTimeTest, FindsADifferenceBehindANul) {
  EXPECT_FALSE(equal_in_constant_time("a\0b"sv, "a\0c"sv));
}

TEST(ConstantTimeTest, NeverFindsAPrefixEqual) {
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
  EXPECT_FALSE(equal_in_constant_time("", "a"));
}

TEST(ConstantTimeTest, FindsTwoEmptyTextsEqual) {
  EXPECT_TRUE(equal_in_constant_time("", std::string_view{}));
}

}  // namespace
}  // namespace hookgate
