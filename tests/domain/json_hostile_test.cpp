// Texts that were made to hurt: too deep, too large, too clever.
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "domain/json.h"

namespace hookgate {
namespace {

constexpr std::size_t kBodyBytes = 1024 * 1024;

std::string error_of(std::string_view text, JsonLimits limits = {}) {
  const auto result = parse_json(text, limits);
  const auto* error = std::get_if<JsonError>(&result);
  return error == nullptr ? "" : error->message;
}

JsonDocument parsed(std::string_view text, JsonLimits limits = {}) {
  auto result = parse_json(text, limits);
  EXPECT_EQ(error_of(text, limits), "");
  auto* document = std::get_if<JsonDocument>(&result);
  return document == nullptr ? JsonDocument{} : std::move(*document);
}

std::string canonical(std::string_view text) {
  return canonical_json(parsed(text).root);
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

std::string array_of(std::string_view elements) {
  std::string text{'['};
  text += elements;
  text += ']';
  return text;
}

// `count` members with names of their own.
std::string wide_object(std::size_t count, const std::string& last) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) {
    text.append("\"payment_method_").append(std::to_string(i)).append("\":0,");
  }
  return text.append(1, '"').append(last).append("\":1}");
}

TEST(HostileJsonTest, RefusesADepthBombAtTheLimit) {
  EXPECT_EQ(error_of(std::string(100'000, '[')), "nested deeper than 64");
  EXPECT_EQ(error_of(repeated("{\"a\":", 100'000)), "nested deeper than 64");
  EXPECT_EQ(error_of(repeated("[{\"\":", 50'000) + "\n"), "nested deeper than 64");
}

TEST(HostileJsonTest, RefusesAMegabyteOfNestedObjects) {
  const auto half = kBodyBytes / 6;
  EXPECT_EQ(error_of(repeated("{\"a\":", half) + "1" + std::string(half, '}')),
            "nested deeper than 64");
}

TEST(HostileJsonTest, TakesAMegabyteOfObjectsNestedToTheLimit) {
  const auto tower = repeated("{\"a\":", 63) + "1" + std::string(63, '}');
  const auto count = kBodyBytes / (tower.size() + 1);
  const auto text = array_of(repeated(tower + ",", count - 1) + tower);
  EXPECT_EQ(parsed(text).root.elements().size(), count);
  EXPECT_EQ(canonical(text), text);
}

TEST(HostileJsonTest, CountsNestingAnewAfterAClosedBracket) {
  EXPECT_EQ(error_of("[[[1]],[[1]],{\"a\":[1]}]", {.depth_max = 3}), "");
}

TEST(HostileJsonTest, TakesAMegabyteOfTheSmallestValues) {
  const auto count = kBodyBytes / 2;
  EXPECT_EQ(parsed(array_of(repeated("1,", count) + "1")).root.elements().size(), count + 1);
}

TEST(HostileJsonTest, KeepsTheLiteralOfAHugeNumber) {
  const std::string digits(10'000, '9');
  const std::string tiny = "-0." + std::string(10'000, '0') + "1e-999999";
  for (const auto& literal :
       {std::string{"1e999999"}, std::string{"-1E+999999"}, digits, "-" + digits, tiny}) {
    const auto document = parsed(array_of(literal));
    EXPECT_EQ(document.root.elements().front().number_text(), literal);
    EXPECT_EQ(document.root.elements().front().integer(), std::nullopt);
  }
}

TEST(HostileJsonTest, TellsWhereASurrogateIsAlone) {
  EXPECT_EQ(error_of(R"("\ud800")"), "lone surrogate at byte 2");
  EXPECT_EQ(error_of(R"("ab\udc00")"), "lone surrogate at byte 4");
  EXPECT_EQ(error_of(R"("\uD800\uD800")"), "lone surrogate at byte 2");
  EXPECT_EQ(error_of(R"("\ud800\u0041")"), "lone surrogate at byte 2");
  EXPECT_EQ(error_of(R"("\ud800\n")"), "lone surrogate at byte 2");
  EXPECT_EQ(error_of(R"("\ud800dc00")"), "lone surrogate at byte 2");
  EXPECT_EQ(error_of(R"({"\udfff":1})"), "lone surrogate at byte 3");
}

TEST(HostileJsonTest, DecodesTheEndsOfTheSurrogateRange) {
  EXPECT_EQ(parsed(R"("\ud800\udc00\udbff\udfff\ud7ff\ue000")").root.string(),
            "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\xED\x9F\xBF\xEE\x80\x80");
}

TEST(HostileJsonTest, TellsWhereUtf8IsInvalid) {
  EXPECT_EQ(error_of("[\"abcdefghij\xff\"]"), "invalid UTF-8 at byte 13");
  EXPECT_EQ(error_of("\"\xe2\x82\""), "invalid UTF-8 at byte 2");
  EXPECT_EQ(error_of("\"\xe2\x82"), "invalid UTF-8 at byte 2");
  EXPECT_EQ(error_of("\"\xf5\x80\x80\x80\""), "invalid UTF-8 at byte 2");
  EXPECT_EQ(error_of("{\"\xc1\xbf\":1}"), "invalid UTF-8 at byte 3");
}

TEST(HostileJsonTest, RefusesNulBytesAnywhere) {
  const std::string text = R"({"a":[1,"b"]})";
  for (std::size_t i = 0; i <= text.size(); ++i) {
    auto with_nul = text;
    with_nul.insert(i, 1, '\0');
    EXPECT_EQ(error_of(with_nul), "NUL byte at byte " + std::to_string(i));
  }
}

TEST(HostileJsonTest, SkipsAByteOrderMarkOnlyOnceAndAtTheFront) {
  EXPECT_EQ(error_of("\xEF\xBB\xBF[1]"), "");
  EXPECT_NE(error_of("\xEF\xBB\xBF"), "");
  EXPECT_NE(error_of("\xEF\xBB[1]"), "");
  EXPECT_NE(error_of("\xEF\xBB\xBF\xEF\xBB\xBF[1]"), "");
  EXPECT_NE(error_of("[1]\xEF\xBB\xBF"), "");
  EXPECT_NE(error_of(" \xEF\xBB\xBF[1]"), "");
}

TEST(HostileJsonTest, CountsBytesFromTheByteOrderMarkOn) {
  EXPECT_EQ(error_of("\xEF\xBB\xBF[1,]"), "syntax error at byte 7");
}

TEST(HostileJsonTest, KeepsAByteOrderMarkInsideAText) {
  EXPECT_EQ(parsed("\"\xEF\xBB\xBF\"").root.string(), "\xEF\xBB\xBF");
}

TEST(HostileJsonTest, TellsTheEndWhereATextIsCutOff) {
  const std::string text = R"({"a":[true,"b\u00e9",-1.5e3],"c":null})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    // On the heap and without a byte behind it, where a read too far is noticed.
    const std::vector<char> front(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(error_of({front.data(), front.size()}), "") << size;
  }
  EXPECT_EQ(error_of(text.substr(0, 8)), "syntax error at byte 9");
}

TEST(HostileJsonTest, NoticesADoubledNameAmongMany) {
  for (const std::size_t count : {1, 14, 15, 16, 17, 100, 30'000}) {
    EXPECT_FALSE(parsed(wide_object(count, "payment_method_x")).has_doubled_keys()) << count;
    EXPECT_TRUE(parsed(wide_object(count, "payment_method_0")).has_doubled_keys()) << count;
    EXPECT_TRUE(parsed(wide_object(count, "payment_method\\u005f0")).has_doubled_keys()) << count;
  }
}

TEST(HostileJsonTest, ReadsTheLastOfADoubledNameAmongMany) {
  const auto text = wide_object(100, "payment_method_7");
  EXPECT_EQ(parsed(text).root["payment_method_7"].integer(), 1);
  EXPECT_EQ(parsed(canonical(text)).root["payment_method_7"].integer(), 1);
  EXPECT_FALSE(parsed(canonical(text)).has_doubled_keys());
}

TEST(HostileJsonTest, OrdersNamesByTheirBytes) {
  EXPECT_EQ(canonical(R"({"abcdefgh2":1,"abcdefgh1":2,"abcdefgh":3,"é":4,"abc":5,"":6,"Z":7})"),
            R"({"":6,"Z":7,"abc":5,"abcdefgh":3,"abcdefgh1":2,"abcdefgh2":1,"é":4})");
  EXPECT_EQ(canonical(R"({"a\u0000":1,"a":2,"a\u0000\u0000":3})"),
            R"({"a":2,"a\u0000":1,"a\u0000\u0000":3})");
}

// The scan takes eight bytes at a time: what needs a look may be at any place among them.
TEST(HostileJsonTest, FindsWhatNeedsALookAtAnyPlaceOfAText) {
  for (const std::string_view piece : {R"(\")", R"(\\)", R"(\u001f)", "\x7f", "é", "!", "[", "]"}) {
    for (std::size_t i = 0; i < 20; ++i) {
      const auto text =
          '"' + std::string(i, 'x') + std::string{piece} + std::string(20 - i, 'x') + '"';
      EXPECT_EQ(canonical(text), text);
    }
  }
  for (const std::string_view piece : {"\x01", "\x1f", "\n", "\xff", "\x80", "\"", "\\x"}) {
    for (std::size_t i = 0; i < 20; ++i) {
      const auto text =
          '"' + std::string(i, 'x') + std::string{piece} + std::string(20 - i, 'x') + '"';
      EXPECT_NE(error_of(text), "") << text;
    }
  }
}

TEST(HostileJsonTest, TakesUpperAndLowerCaseHexDigitsOnly) {
  EXPECT_EQ(parsed(R"("\u00E9\u00e9")").root.string(), "\xC3\xA9\xC3\xA9");
  for (const std::string_view bad : {R"("\u00g0")", R"("\u00@0")", R"("\u00`0")", R"("\u00G0")",
                                     R"("\u00:0")", R"("\u00/0")", R"("\u00 0")", R"("\U0041")"}) {
    EXPECT_NE(error_of(bad), "") << bad;
  }
}

TEST(HostileJsonTest, LivesOnAfterTheTextItWasReadFrom) {
  auto text = std::make_unique<std::string>(R"({"a long name of a member":["a long text in it"]})");
  auto document = std::make_unique<JsonDocument>(parsed(*text));
  text->assign(text->size(), '#');
  text.reset();
  const JsonDocument copy = *document;
  document.reset();
  EXPECT_EQ(canonical_json(copy.root), R"({"a long name of a member":["a long text in it"]})");
}

}  // namespace
}  // namespace hookgate
