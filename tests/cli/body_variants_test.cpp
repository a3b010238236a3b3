#include "cli/body_variants.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace hookgate {
namespace {

using ::testing::HasSubstr;

// The change that leads from `original` to `body`; "" if it is not among the variants.
std::string change_from(const std::string& original, const std::string& body) {
  const auto variants = body_variants(body);
  const auto found = std::ranges::find(variants, original, &BodyVariant::body);
  return found == variants.end() ? "" : found->change;
}

TEST(BodyVariantsTest, UndoesAnAddedNewline) {
  EXPECT_EQ(change_from("{}", "{}\n"), "a newline was added at its end");
  EXPECT_EQ(change_from("{}", "{}\r\n"), "a newline was added at its end");
}

TEST(BodyVariantsTest, PutsATrimmedNewlineBack) {
  EXPECT_EQ(change_from("{}\n", "{}"), "the newline at its end was taken off");
}

TEST(BodyVariantsTest, UndoesConvertedLineEnds) {
  EXPECT_EQ(change_from("{\n}", "{\r\n}"), "its line ends were changed from LF to CRLF");
  EXPECT_EQ(change_from("{\r\n}", "{\n}"), "its line ends were changed from CRLF to LF");
}

TEST(BodyVariantsTest, UndoesAByteOrderMark) {
  EXPECT_EQ(change_from("{}", "\xEF\xBB\xBF{}"), "a byte order mark was put before it");
  EXPECT_EQ(change_from("\xEF\xBB\xBF{}", "{}"), "its byte order mark was taken off");
}

TEST(BodyVariantsTest, UndoesCompaction) {
  EXPECT_THAT(change_from("{\n  \"b\": [\n    1.10,\n    {}\n  ],\n  \"a\": []\n}",
                          R"({"b":[1.10,{}],"a":[]})"),
              HasSubstr("indented by two blanks"));
  EXPECT_THAT(change_from("{\n    \"b\": null\n}", R"({"b":null})"),
              HasSubstr("indented by four blanks"));
  EXPECT_THAT(change_from(R"({"b": [true, 1E2]})", R"({"b":[true,1E2]})"),
              HasSubstr("a blank after"));
}

TEST(BodyVariantsTest, UndoesIndentation) {
  EXPECT_THAT(change_from(R"({"b":[12345678901234567890123],"a":"x"})",
                          "{\n  \"b\": [12345678901234567890123],\n  \"a\": \"x\"\n}\n"),
              HasSubstr("compact JSON"));
}

TEST(BodyVariantsTest, UndoesDecodedEscapes) {
  EXPECT_THAT(change_from(R"({"a":"\u00e9\u4e2d\ud83c\udf81"})", "{\"a\":\"é中🎁\"}"),
              HasSubstr("\\u escapes"));
  EXPECT_THAT(change_from(R"({"a":"x\/y"})", R"({"a":"x/y"})"), HasSubstr("\\/ escapes"));
}

TEST(BodyVariantsTest, NeverGivesTheBodyItself) {
  for (const auto* body : {"", "{}", "{}\n", "not json\r\n", "{\"a\": 1}"}) {
    EXPECT_EQ(change_from(body, body), "") << body;
  }
}

}  // namespace
}  // namespace hookgate
