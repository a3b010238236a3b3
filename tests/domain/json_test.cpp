#include "domain/json.h"

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

JsonDocument parsed(std::string_view text, JsonLimits limits = {}) {
  auto result = parse_json(text, limits);
  EXPECT_TRUE(std::holds_alternative<JsonDocument>(result)) << text;
  auto* document = std::get_if<JsonDocument>(&result);
  return document == nullptr ? JsonDocument{} : std::move(*document);
}

std::string error_of(std::string_view text, JsonLimits limits = {}) {
  const auto result = parse_json(text, limits);
  const auto* error = std::get_if<JsonError>(&result);
  return error == nullptr ? "" : error->message;
}

std::string canonical(std::string_view text) {
  return canonical_json(parsed(text).root);
}

std::string arrays(int depth) {
  const auto count = static_cast<std::size_t>(depth);
  return std::string(count, '[') + std::string(count, ']');
}

class BadJsonTest : public testing::TestWithParam<std::string> {};

TEST_P(BadJsonTest, IsRefused) {
  EXPECT_NE(error_of(GetParam()), "") << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Json, BadJsonTest,
                         testing::Values("", " ", "nul", "tru", "{", "[1,]", "{\"a\":1,}",
                                         "{\"a\"}", "{a:1}", "'a'", "[1] x", "{}{}", "01", "1.",
                                         ".5", "+1", "1e", "0x1", "NaN", "Infinity", "\"\n\"",
                                         "\"\\x41\"", "\"\\ud800\"", "\"\\udc00\\ud800\"",
                                         "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "// c\n1",
                                         "[1] // c", std::string("{}\0", 3),
                                         std::string("{\"a\":\"\0\"}", 9)),
                         [](const auto& row) { return "Text" + std::to_string(row.index); });

TEST(JsonTest, SkipsAByteOrderMark) {
  EXPECT_EQ(canonical("\xEF\xBB\xBF{\"a\":1}"), R"({"a":1})");
}

TEST(JsonTest, TellsWhereTheSyntaxBreaks) {
  EXPECT_EQ(error_of("[1,]"), "syntax error at byte 4");
}

TEST(JsonTest, TakesNestingUpToTheLimit) {
  EXPECT_EQ(error_of(arrays(64)), "");
  EXPECT_EQ(error_of(arrays(65)), "nested deeper than 64");
}

TEST(JsonTest, TakesTheLimitItIsGiven) {
  EXPECT_EQ(error_of(arrays(2), {.depth_max = 2}), "");
  EXPECT_EQ(error_of(arrays(3), {.depth_max = 2}), "nested deeper than 2");
}

TEST(JsonTest, RefusesAFloodOfOpenBracketsAtTheLimit) {
  EXPECT_EQ(error_of(std::string(1'000'000, '[')), "nested deeper than 64");
}

TEST(JsonTest, RefusesANulByteBehindTheValue) {
  EXPECT_EQ(error_of(std::string("{}\0{\"id\":1}", 11)), "NUL byte at byte 2");
}

TEST(JsonTest, KeepsAnEscapedNulInsideAText) {
  EXPECT_EQ(parsed(R"("a\u0000b")").root.string(), std::string_view("a\0b", 3));
}

TEST(JsonTest, DecodesEscapesAndSurrogatePairs) {
  EXPECT_EQ(parsed(R"("\/\u00e9\ud83d\ude00")").root.string(), "/\xC3\xA9\xF0\x9F\x98\x80");
}

TEST(JsonTest, NoticesADoubledNameAtAnyDepth) {
  EXPECT_TRUE(parsed(R"({"a":1,"a":2})").has_doubled_keys());
  EXPECT_TRUE(parsed(R"([{"x":{"a":1,"b":2,"a":3}}])").has_doubled_keys());
  EXPECT_TRUE(parsed(R"({"a":1,"\u0061":2})").has_doubled_keys());
}

TEST(JsonTest, TakesOneNameInTwoObjectsForNoDouble) {
  EXPECT_FALSE(parsed(R"([{"a":{"a":1}},{"a":2}])").has_doubled_keys());
}

TEST(JsonTest, ReadsTheLastOfADoubledName) {
  const auto document = parsed(R"({"a":1,"a":2})");
  EXPECT_EQ(document.root["a"].integer(), 2);
  EXPECT_EQ(canonical_json(document.root), R"({"a":2})");
}

TEST(JsonTest, GivesNullForAMissingMemberSoThatLookupsChain) {
  const auto document = parsed(R"({"data":{"object":{"id":"x"}}})");
  EXPECT_EQ(document.root.at({"data", "object", "id"}).string(), "x");
  EXPECT_TRUE(document.root.at({"data", "nothing", "id"}).is_null());
  EXPECT_TRUE(document.root["data"]["object"]["id"]["deeper"].is_null());
}

TEST(JsonTest, GivesIntegersThatFit64BitsOnly) {
  EXPECT_EQ(parsed("9223372036854775807").root.integer(), INT64_MAX);
  EXPECT_EQ(parsed("-9223372036854775808").root.integer(), INT64_MIN);
  EXPECT_EQ(parsed("9223372036854775808").root.integer(), std::nullopt);
  EXPECT_EQ(parsed("18446744073709551616").root.integer(), std::nullopt);
}

TEST(JsonTest, GivesNoIntegerForAFractionAnExponentOrAText) {
  EXPECT_EQ(parsed("1.0").root.integer(), std::nullopt);
  EXPECT_EQ(parsed("1e3").root.integer(), std::nullopt);
  EXPECT_EQ(parsed("\"1\"").root.integer(), std::nullopt);
  EXPECT_EQ(parsed("true").root.integer(), std::nullopt);
}

TEST(CanonicalJsonTest, SortsMembersByNameAtEveryDepth) {
  EXPECT_EQ(canonical(R"({"b":{"d":1,"c":2},"a":[{"z":1,"y":2}]})"),
            R"({"a":[{"y":2,"z":1}],"b":{"c":2,"d":1}})");
}

TEST(CanonicalJsonTest, LeavesTheOrderOfAnArray) {
  EXPECT_EQ(canonical("[3, 1, 2]"), "[3,1,2]");
}

TEST(CanonicalJsonTest, DropsWhiteSpaceOutsideTexts) {
  EXPECT_EQ(canonical(" { \"a b\" :\r\n[ 1 ,\t2 ] } "), R"({"a b":[1,2]})");
}

TEST(CanonicalJsonTest, KeepsTheLiteralOfANumber) {
  EXPECT_EQ(canonical("[1.0,1.10,1e5,1E5,-5,123456789012345678901234567890,0.1000]"),
            "[1.0,1.10,1e5,1E5,-5,123456789012345678901234567890,0.1000]");
}

TEST(CanonicalJsonTest, WritesOneTextForAllSpellingsOfAString) {
  EXPECT_EQ(canonical(R"("\u0041\/\u00e9\n")"), canonical("\"A/\xC3\xA9\\u000a\""));
}

TEST(CanonicalJsonTest, TellsValuesOfDifferentKindsApart) {
  EXPECT_NE(canonical("1"), canonical("\"1\""));
  EXPECT_NE(canonical("null"), canonical("\"null\""));
  EXPECT_NE(canonical("{}"), canonical("[]"));
}

TEST(CanonicalJsonTest, LeavesOutVolatileMembersOfTheOutermostObjectOnly) {
  const auto document = parsed(R"({"v":1,"a":{"v":2}})");
  EXPECT_EQ(canonical_json(document.root, {"v"}), R"({"a":{"v":2}})");
}

TEST(CanonicalJsonTest, IsItsOwnCanonicalForm) {
  const auto once = canonical(R"({"b":[1.50,"\u0001é"],"a":{"x":null,"w":true}})");
  EXPECT_EQ(canonical(once), once);
}

TEST(QuoteJsonTest, EscapesQuotesBackslashesAndControls) {
  EXPECT_EQ(quote_json("a\"b\\c\n"), R"("a\"b\\c\u000a")");
}

TEST(QuoteJsonTest, ReplacesInvalidUtf8) {
  EXPECT_EQ(quote_json("a\xFF"), "\"a\xEF\xBF\xBD\"");
}

TEST(JsonNumberTest, KeepsTheSignOfAZero) {
  const auto parsed = parse_json("[-0,0,-0.0]");
  EXPECT_EQ(canonical_json(std::get<JsonDocument>(parsed).root), "[-0,0,-0.0]");
}

}  // namespace
}  // namespace hookgate
