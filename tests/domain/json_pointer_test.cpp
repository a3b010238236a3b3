#include "domain/json_pointer.h"

#include <string>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

// What the pointer finds, as canonical JSON; "nothing", or "no pointer".
std::string found(std::string_view json, std::string_view text) {
  const auto document = std::get<JsonDocument>(parse_json(json));
  const auto pointer = JsonPointer::parse(text);
  if (!pointer) return "no pointer";
  const auto value = pointer->find(document.root);
  return value ? canonical_json(*value) : "nothing";
}

// RFC 6901, section 5.
constexpr std::string_view kRfc =
    R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})";

TEST(JsonPointerTest, FindsWhatTheRfcSays) {
  EXPECT_EQ(found(kRfc, "/foo"), R"(["bar","baz"])");
  EXPECT_EQ(found(kRfc, "/foo/0"), R"("bar")");
  EXPECT_EQ(found(kRfc, "/"), "0");
  EXPECT_EQ(found(kRfc, "/a~1b"), "1");
  EXPECT_EQ(found(kRfc, "/c%d"), "2");
  EXPECT_EQ(found(kRfc, "/i\\j"), "5");
  EXPECT_EQ(found(kRfc, "/k\"l"), "6");
  EXPECT_EQ(found(kRfc, "/ "), "7");
  EXPECT_EQ(found(kRfc, "/m~0n"), "8");
  EXPECT_EQ(found("[1]", ""), "[1]");
}

TEST(JsonPointerTest, UnescapesInTheOrderOfTheRfc) {
  EXPECT_EQ(found(R"({"~1":1,"/":2})", "/~01"), "1");
}

TEST(JsonPointerTest, FindsNothingWhereNothingIs) {
  EXPECT_EQ(found(kRfc, "/bar"), "nothing");
  EXPECT_EQ(found(kRfc, "/foo/2"), "nothing");
  EXPECT_EQ(found(kRfc, "/foo/-"), "nothing");
  EXPECT_EQ(found(kRfc, "/foo/00"), "nothing");
  EXPECT_EQ(found(kRfc, "/foo/ 1"), "nothing");
  EXPECT_EQ(found(kRfc, "/foo/99999999999999999999"), "nothing");
  EXPECT_EQ(found(kRfc, "/foo/0/bar"), "nothing");
  EXPECT_EQ(found("7", "/a"), "nothing");
}

TEST(JsonPointerTest, FindsANullThatIsThere) {
  EXPECT_EQ(found(R"({"a":null})", "/a"), "null");
}

TEST(JsonPointerTest, TakesTheLastOfADoubledName) {
  EXPECT_EQ(found(R"({"a":{"b":1},"a":{"b":2}})", "/a/b"), "2");
}

TEST(JsonPointerTest, RefusesWhatIsNoPointer) {
  EXPECT_EQ(found("{}", "a"), "no pointer");
  EXPECT_EQ(found("{}", "/a~"), "no pointer");
  EXPECT_EQ(found("{}", "/a~2"), "no pointer");
  EXPECT_EQ(found("{}", "#/a"), "no pointer");
}

}  // namespace
}  // namespace hookgate
