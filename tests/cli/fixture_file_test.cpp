#include "cli/fixture_file.h"

#include <gmock/gmock.h>

#include "cli_test_support.h"

namespace hookgate {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class FixtureFileTest : public CliTest {
 protected:
  static std::string problem_with(const std::string& bytes) {
    return message_of<FixtureError>([&] { parse_fixture(bytes, "a.http"); });
  }
};

TEST_F(FixtureFileTest, ReadsARequestWithCrlfLineEnds) {
  const auto request = parse_fixture(
      "POST /webhooks/stripe?x=1 HTTP/1.1\r\nContent-Type: text/plain\r\n\r\nbody", "a.http");
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/webhooks/stripe?x=1");
  EXPECT_EQ(request.header("content-type"), "text/plain");
  EXPECT_EQ(request.body, "body");
}

TEST_F(FixtureFileTest, ReadsARequestWithLfLineEnds) {
  const auto request = parse_fixture("POST /a HTTP/1.1\nA: 1\n\nbody", "a.http");
  EXPECT_EQ(request.header("A"), "1");
  EXPECT_EQ(request.body, "body");
}

TEST_F(FixtureFileTest, KeepsEveryByteOfTheBody) {
  const std::string body{"\r\n\n{\"a\":\0\xFF}\r\n\r\n", 15};
  EXPECT_EQ(parse_fixture("POST /a HTTP/1.1\r\n\r\n" + body, "a.http").body, body);
}

TEST_F(FixtureFileTest, TakesAnEmptyBody) {
  EXPECT_EQ(parse_fixture("POST /a HTTP/1.1\r\n\r\n", "a.http").body, "");
}

TEST_F(FixtureFileTest, KeepsRepeatedHeadersInOrder) {
  const auto request = parse_fixture("POST /a HTTP/1.1\nA: 1\nB: 2\na: 3\n\n", "a.http");
  ASSERT_EQ(request.headers.size(), 3U);
  EXPECT_EQ(request.header_count("A"), 2U);
  EXPECT_EQ(request.headers[2].value, "3");
}

TEST_F(FixtureFileTest, StripsBlanksAroundAHeaderValueOnly) {
  const auto request = parse_fixture("POST /a HTTP/1.1\nA: \t x y \t\nB:\n\n", "a.http");
  EXPECT_EQ(request.header("A"), "x y");
  EXPECT_EQ(request.header("B"), "");
}

TEST_F(FixtureFileTest, LeavesOutWhatToldOfTheConnection) {
  const auto request = parse_fixture(
      "POST /a HTTP/1.1\ncontent-length: 999\nTransfer-Encoding: chunked\n\nbody", "a.http");
  EXPECT_TRUE(request.headers.empty());
  EXPECT_EQ(request.body, "body");
}

TEST_F(FixtureFileTest, NamesFileAndLineOfABadRequestLine) {
  const std::string expected = "a.http:1: the request line is not like";
  for (const auto* line : {"", "POST", "POST /a", "POST  HTTP/1.1", "{\"a\": 1}"}) {
    EXPECT_THAT(problem_with(std::string{line} + "\n\n"), HasSubstr("a.http:1: ")) << line;
  }
  EXPECT_THAT(problem_with("POST /a\n\n"), HasSubstr(expected));
}

TEST_F(FixtureFileTest, RefusesATargetThatIsNoPath) {
  EXPECT_EQ(problem_with("POST http://x/ HTTP/1.1\n\n"),
            "a.http:1: the target is not a path without blanks");
  EXPECT_EQ(problem_with("POST /a b HTTP/1.1\n\n"),
            "a.http:1: the target is not a path without blanks");
}

TEST_F(FixtureFileTest, NamesTheLineOfABadHeader) {
  EXPECT_EQ(problem_with("POST /a HTTP/1.1\nA: 1\nno colon\n\n"), "a.http:3: a header without ':'");
  EXPECT_EQ(problem_with("POST /a HTTP/1.1\r\n folded: 1\r\n\r\n"),
            "a.http:2: the name of a header is not a word");
}

TEST_F(FixtureFileTest, NamesTheLineAfterWhichTheEmptyLineIsMissing) {
  EXPECT_EQ(problem_with("POST /a HTTP/1.1\nA: 1"),
            "a.http:2: the file ends before the empty line after the headers");
  EXPECT_EQ(problem_with(""), "a.http:1: the file ends before the empty line after the headers");
}

TEST_F(FixtureFileTest, RefusesACarriageReturnOrNulInsideALine) {
  EXPECT_THAT(problem_with("POST /a HTTP/1.1\nA: 1\r2\n\n"), HasSubstr("a.http:2: "));
  EXPECT_THAT(problem_with(std::string{"POST /a HTTP/1.1\nA: \0\n\n", 23}),
              HasSubstr("a.http:2: "));
}

TEST_F(FixtureFileTest, RefusesAHeadOverItsLimits) {
  EXPECT_THAT(
      problem_with("POST /a HTTP/1.1\nA: " + std::string(kFixtureHeadBytesMax, 'x') + "\n\n"),
      HasSubstr("a.http:2: the head is longer than"));
  std::string many = "POST /a HTTP/1.1\n";
  for (std::size_t i = 0; i <= kFixtureHeadersMax; ++i) many += "A: 1\n";
  EXPECT_THAT(problem_with(many + "\n"), HasSubstr("a.http:202: more than 200 headers"));
}

TEST_F(FixtureFileTest, FormatsWhatItReads) {
  auto request = a_request("/webhooks/x?y=1", "\r\n body \n");
  request.headers.push_back({"Content-Length", "1"});
  EXPECT_EQ(
      format_fixture(request),
      "POST /webhooks/x?y=1 HTTP/1.1\r\nHost: example.test\r\nContent-Type: application/json\r\n"
      "Content-Length: 9\r\n\r\n\r\n body \n");
  const auto again = parse_fixture(format_fixture(request), "a.http");
  EXPECT_EQ(again.body, request.body);
  EXPECT_EQ(again.target, request.target);
  EXPECT_EQ(again.headers.size(), 2U);
}

TEST_F(FixtureFileTest, FormatsNoLineBreakFromInsideAHeader) {
  auto request = a_request("/a", "body");
  request.headers = {{"A", "1\r\n\r\nforged"}};
  EXPECT_EQ(parse_fixture(format_fixture(request), "a.http").body, "body");
}

TEST_F(FixtureFileTest, ReadsAFile) {
  const auto file = write("a.http", "POST /a HTTP/1.1\r\n\r\nbody\n");
  EXPECT_EQ(read_fixture(file).body, "body\n");
}

TEST_F(FixtureFileTest, NamesAFileThatIsNotThere) {
  const auto file = folder() / "absent.http";
  EXPECT_THAT(message_of<FixtureError>([&] { read_fixture(file); }), HasSubstr(file.string()));
}

TEST_F(FixtureFileTest, FindsFixturesBelowAFolderSorted) {
  const auto c = write("sub/deeper/c.http", "");
  const auto b = write("b.http", "");
  const auto a = write("a.http", "");
  write("README.md", "");
  EXPECT_THAT(find_fixtures({folder()}), ElementsAre(a, b, c));
}

TEST_F(FixtureFileTest, TakesAFileAsGivenWhateverItsName) {
  const auto file = write("captured.txt", "");
  EXPECT_THAT(find_fixtures({file}), ElementsAre(file));
}

TEST_F(FixtureFileTest, NamesAPathThatIsNotThere) {
  const auto path = folder() / "absent";
  EXPECT_EQ(message_of<FixtureError>([&] { find_fixtures({folder() / "absent"}); }),
            path.string() + ": no such file or folder");
}

TEST_F(FixtureFileTest, NamesAFolderWithoutFixtures) {
  EXPECT_THAT(message_of<FixtureError>([&] { find_fixtures({folder()}); }),
              EndsWith(": no *.http file below this folder"));
}

}  // namespace
}  // namespace hookgate
