#include "config_document.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_test_support.h"

namespace hookgate {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ConfigDocumentTest, PointsAtASyntaxError) {
  EXPECT_EQ(fault_of("[server]\nlisten = [\"a\" \"b\"]\n"),
            "t.toml:2:15: syntax error in array: expected comma or closing ']'");
}

TEST(ConfigDocumentTest, TellsThatAStringNeedsQuotes) {
  EXPECT_EQ(fault_of("[server]\nlisten = localhost\n"),
            "t.toml:2:10: syntax error in value: could not determine value type; a string needs "
            "quotes");
}

TEST(ConfigDocumentTest, RefusesAKeyWrittenTwice) {
  EXPECT_EQ(fault_of("[workers]\ncount = 1\ncount = 2\n"),
            "t.toml:3:9: syntax error in key-value pair: cannot redefine existing integer 'count'");
}

TEST(ConfigDocumentTest, RefusesInvalidUtf8) {
  EXPECT_EQ(fault_of("[server]\nlisten = \"\xff\"\n"),
            "t.toml:2:10: syntax error: Encountered invalid utf-8 sequence");
}

TEST(ConfigDocumentTest, NeverRepeatsASecretThatLacksItsQuotes) {
  for (const auto* value :
       {"whsec_INVENTED", "98765432109876543210987", "0xwhsec_INVENTED", "\"whsec_INVENTED",
        "'whsec_INVENTED", "\"a\" whsec_INVENTED", "1e99999999987654321", "truewhsec_INVENTED"}) {
    const auto fault = fault_of("secrets = " + std::string{value} + "\n");
    EXPECT_THAT(fault, HasSubstr("t.toml:"));
    EXPECT_THAT(fault, HasSubstr("syntax error")) << value;
    EXPECT_THAT(fault, Not(HasSubstr("INVENTED"))) << value;
    EXPECT_THAT(fault, Not(HasSubstr("87654321"))) << value;
    EXPECT_THAT(fault, Not(HasSubstr("\n"))) << value;
  }
}

// The parser shows the letters it stumbled over.
TEST(ConfigDocumentTest, NeverRepeatsTheBeginningOfASecretThatLacksItsQuotes) {
  EXPECT_EQ(fault_of("[admin]\ntoken = fals3cret\n"),
            "t.toml:2:13: syntax error in boolean: expected 'false'");
}

TEST(ConfigDocumentTest, NamesTheFirstOfTwoFaultsOfAFile) {
  EXPECT_EQ(fault_of("[server]\nzebra = 1\nant = 2\n"),
            "t.toml:2:1: unknown key 'zebra' in [server]");
}

TEST(ConfigDocumentTest, CountsColumnsInCharacters) {
  EXPECT_EQ(fault_of("server = { listen = \"0.0.0.0:1\", \"é\" = 1 }\n"),
            "t.toml:1:34: unknown key 'é' in [server]");
}

TEST(ConfigDocumentTest, SkipsAByteOrderMark) {
  EXPECT_EQ(fault_of("\xef\xbb\xbf[workers]\r\ncount = 1\r\n"), kAccepted);
}

TEST(ConfigDocumentTest, KeepsAMessageOnOneLine) {
  EXPECT_EQ(fault_of("[server]\n\"a\\nb\" = 1\n", "t\n.toml"),
            "t?.toml:2:1: unknown key 'a?b' in [server]");
}

TEST(ConfigDocumentTest, ShowsNoControlCharacterOfWhatItCannotRead) {
  for (const auto* value : {"t\r\x01", "f\x1B[2J", "t\x7F"}) {
    const auto fault = fault_of("[database]\nmigrate = " + std::string{value} + "\n");
    EXPECT_THAT(fault, HasSubstr("t.toml:2:"));
    EXPECT_TRUE(std::ranges::none_of(fault, [](char c) { return c < ' ' || c == '\x7F'; }))
        << fault;
  }
}

TEST(ConfigDocumentTest, CutsALongKeyInAMessage) {
  EXPECT_EQ(fault_of("[server]\n" + std::string(100, 'x') + " = 1\n"),
            "t.toml:2:1: unknown key '" + std::string(80, 'x') + "...' in [server]");
}

}  // namespace
}  // namespace hookgate
