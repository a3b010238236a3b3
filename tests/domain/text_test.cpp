#include "domain/text.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace hookgate {
namespace {

using namespace std::string_view_literals;

class InvalidUtf8Test : public testing::TestWithParam<std::string> {};

TEST_P(InvalidUtf8Test, IsRefused) {
  EXPECT_FALSE(is_valid_utf8(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Text, InvalidUtf8Test,
                         testing::Values("\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80",
                                         "\xE2\x82", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                                         "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "a\xE9",
                                         "\xE2\x28\xA1"),
                         [](const auto& row) { return "Bytes" + std::to_string(row.index); });

TEST(TextTest, TakesEveryLengthOfUtf8) {
  EXPECT_TRUE(is_valid_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  EXPECT_TRUE(is_valid_utf8("\xEE\x80\x80\xED\x9F\xBF\xF4\x8F\xBF\xBF"));
  EXPECT_TRUE(is_valid_utf8(""));
}

TEST(TextTest, LeavesACleanTextAlone) {
  EXPECT_EQ(clean_text("Gr\xC3\xBC\xC3\x9F"), "Gr\xC3\xBC\xC3\x9F");
}

TEST(TextTest, ReplacesNulAndInvalidBytes) {
  EXPECT_EQ(clean_text("a\0b\xFF"
                       "c"sv),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD"
            "c");
}

TEST(TextTest, CutsBetweenTwoCharacters) {
  EXPECT_EQ(clean_text("a\xC3\xA9", 2), "a");
  EXPECT_EQ(clean_text("a\xC3\xA9", 3), "a\xC3\xA9");
}

TEST(TextTest, CutsBeforeAReplacementThatWouldNotFit) {
  EXPECT_EQ(clean_text("ab\xFF", 4), "ab");
}

RC_GTEST_PROP(TextProperty, CleanTextIsAlwaysFitForAColumn, (const std::string& bytes)) {
  const auto bytes_max = *rc::gen::inRange<std::size_t>(0, 64);
  const auto text = clean_text(bytes, bytes_max);
  RC_ASSERT(text.size() <= bytes_max);
  RC_ASSERT(is_valid_utf8(text));
  RC_ASSERT(std::ranges::find(text, '\0') == text.end());
}

}  // namespace
}  // namespace hookgate
