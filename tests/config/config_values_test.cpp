#include "config_values.h"

#include <array>
#include <limits>
#include <string_view>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

using std::chrono::milliseconds;

TEST(DurationTest, ReadsEveryUnit) {
  EXPECT_EQ(parse_duration("250ms"), milliseconds{250});
  EXPECT_EQ(parse_duration("90s"), milliseconds{90'000});
  EXPECT_EQ(parse_duration("10m"), milliseconds{600'000});
  EXPECT_EQ(parse_duration("36h"), milliseconds{129'600'000});
  EXPECT_EQ(parse_duration("40d"), milliseconds{3'456'000'000});
}

TEST(DurationTest, RefusesWhatIsNotOneNumberAndOneUnit) {
  for (const auto* text :
       {"", "5", "s", "5S", "5 s", " 5s", "5s ", "1h30m", "1.5h", "+5s", "--5s", "5min", "0x5s"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(DurationTest, ReadsANegativeOneSoThatItsSignCanBeNamed) {
  EXPECT_EQ(parse_duration("-5s"), milliseconds{-5'000});
}

TEST(DurationTest, SaturatesInsteadOfOverflowing) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(parse_duration("99999999999999999999s"), milliseconds{kMax});  // not 64 bits
  EXPECT_EQ(parse_duration("106751991168d"), milliseconds{kMax});          // not once multiplied
  EXPECT_EQ(parse_duration("-106751991168d"), milliseconds{-kMax});
  EXPECT_EQ(parse_duration("106751991167d"), milliseconds{106'751'991'167 * 86'400'000});
}

TEST(DurationTest, IsWrittenInTheLargestUnitWithoutRest) {
  EXPECT_EQ(format_duration(milliseconds{0}), "0s");
  EXPECT_EQ(format_duration(milliseconds{1'500}), "1500ms");
  EXPECT_EQ(format_duration(milliseconds{90'000}), "90s");
  EXPECT_EQ(format_duration(std::chrono::hours{36}), "36h");
  EXPECT_EQ(format_duration(std::chrono::hours{24 * 35}), "35d");
}

TEST(DurationTest, SuggestsTheUnitThatWasMeant) {
  EXPECT_EQ(suggest_duration("5"), "5s");
  EXPECT_EQ(suggest_duration("5min"), "5m");
  EXPECT_EQ(suggest_duration("5 Minutes"), "5m");
  EXPECT_EQ(suggest_duration("5S"), "5s");
  EXPECT_EQ(suggest_duration("2days"), "2d");
  EXPECT_EQ(suggest_duration("1h30m"), std::nullopt);
  EXPECT_EQ(suggest_duration("soon"), std::nullopt);
  EXPECT_EQ(suggest_duration("-5"), std::nullopt);
}

TEST(SizeTest, ReadsEveryUnit) {
  EXPECT_EQ(parse_size("0B"), 0);
  EXPECT_EQ(parse_size("17B"), 17);
  EXPECT_EQ(parse_size("256KiB"), 262'144);
  EXPECT_EQ(parse_size("1MiB"), 1'048'576);
  EXPECT_EQ(parse_size("2GiB"), 2'147'483'648);
}

TEST(SizeTest, RefusesDecimalAndMissingUnits) {
  for (const auto* text : {"", "17", "B", "1KB", "1MB", "1kib", "1 MiB", "1.5MiB", "1M"})
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
}

TEST(SizeTest, SaturatesInsteadOfOverflowing) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(parse_size("8589934592GiB"), kMax);
  EXPECT_EQ(parse_size("8589934591GiB"), 8'589'934'591 * 1'073'741'824);
}

TEST(SizeTest, SuggestsTheBinaryUnit) {
  EXPECT_EQ(suggest_size("64KB"), "64KiB");
  EXPECT_EQ(suggest_size("1mb"), "1MiB");
  EXPECT_EQ(suggest_size("1 M"), "1MiB");
  EXPECT_EQ(suggest_size("2G"), "2GiB");
  EXPECT_EQ(suggest_size("100"), "100B");
  EXPECT_EQ(suggest_size("1TB"), std::nullopt);
}

TEST(SizeTest, IsWrittenInTheLargestUnitWithoutRest) {
  EXPECT_EQ(format_size(0), "0B");
  EXPECT_EQ(format_size(1'000), "1000B");
  EXPECT_EQ(format_size(65'536), "64KiB");
  EXPECT_EQ(format_size(1'048'576), "1MiB");
}

struct ListenCase {
  std::string_view text;
  std::string_view host;
  int port;
  bool is_loopback;
};

TEST(ListenAddressTest, SplitsHostAndPortAndKnowsLoopback) {
  constexpr std::array<ListenCase, 8> kCases{{{"0.0.0.0:8080", "0.0.0.0", 8080, false},
                                              {"127.0.0.1:0", "127.0.0.1", 0, true},
                                              {"127.9.9.9:1", "127.9.9.9", 1, true},
                                              {"[::1]:65535", "::1", 65535, true},
                                              {"[::]:8080", "::", 8080, false},
                                              {"localhost:80", "localhost", 80, true},
                                              {"127.example:80", "127.example", 80, false},
                                              {"gateway-1.test:80", "gateway-1.test", 80, false}}};
  for (const auto& expected : kCases) {
    const auto address = parse_listen_address(expected.text);
    ASSERT_TRUE(address) << expected.text;
    EXPECT_EQ(address->host, expected.host);
    EXPECT_EQ(address->port, expected.port);
    EXPECT_EQ(address->is_loopback(), expected.is_loopback) << expected.text;
  }
}

TEST(ListenAddressTest, RefusesWhatIsNotHostAndPort) {
  for (const auto* text :
       {"", ":8080", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:+1", "127.0.0.1:80x", "127.0.0:80", "256.0.0.1:80", "::1:80", "[::1]", "[]:80",
        "[::g]:80", "[127.0.0.1]:80", "*:80", "a b:80", "http://127.0.0.1:80"})
    EXPECT_EQ(parse_listen_address(text), std::nullopt) << text;
}

TEST(ListenAddressTest, SuggestsACompleteAddress) {
  EXPECT_EQ(suggest_listen_address(":9000"), "0.0.0.0:9000");
  EXPECT_EQ(suggest_listen_address("9000"), "0.0.0.0:9000");
  EXPECT_EQ(suggest_listen_address("*:9000"), "0.0.0.0:9000");
  EXPECT_EQ(suggest_listen_address("127.0.0.1"), "127.0.0.1:8080");
  EXPECT_EQ(suggest_listen_address("::1:9000"), "[::1]:9000");
  EXPECT_EQ(suggest_listen_address("http://127.0.0.1:9000/"), "127.0.0.1:9000");
  EXPECT_EQ(suggest_listen_address("127.0.0.1:http"), std::nullopt);
}

TEST(BlockNameTest, TakesOneToSixtyFourPlainCharacters) {
  EXPECT_TRUE(is_block_name("a"));
  EXPECT_TRUE(is_block_name("acme-eu_2"));
  EXPECT_TRUE(is_block_name(std::string(64, 'a')));
  EXPECT_FALSE(is_block_name(""));
  EXPECT_FALSE(is_block_name(std::string(65, 'a')));
  for (const auto* name : {"Stripe", "a b", "a/b", "a.b", "é"})
    EXPECT_FALSE(is_block_name(name)) << name;
}

TEST(NearestTest, FindsTheWordAFewSlipsAway) {
  constexpr std::array<std::string_view, 4> kWords{"secrets", "tolerance", "max_body", "url"};
  EXPECT_EQ(nearest("secret", kWords), "secrets");
  EXPECT_EQ(nearest("tolerence", kWords), "tolerance");
  EXPECT_EQ(nearest("sercets", kWords), "secrets");
  EXPECT_EQ(nearest("Max-Body", kWords), "max_body");
  EXPECT_EQ(nearest("maxBody", kWords), "max_body");
}

TEST(NearestTest, FindsNothingForAnotherWord) {
  constexpr std::array<std::string_view, 3> kWords{"secrets", "live", "url"};
  EXPECT_EQ(nearest("port", kWords), std::nullopt);
  EXPECT_EQ(nearest("name", kWords), std::nullopt);
  EXPECT_EQ(nearest(std::string(65, 's'), kWords), std::nullopt);
}

TEST(NearestTest, IgnoresLetterCaseAndKindsOfDash) {
  constexpr std::array<std::string_view, 2> kWords{"tolerance", "a_b_c_d"};
  EXPECT_EQ(nearest("TOLERANCE", kWords), "tolerance");
  EXPECT_EQ(nearest("a-b-c-d", kWords), "a_b_c_d");
}

TEST(NearestTest, CountsASwapOfNeighboursAsOneSlip) {
  constexpr std::array<std::string_view, 1> kWords{"live"};
  EXPECT_EQ(nearest("lvie", kWords), "live");
  EXPECT_EQ(nearest("evil", kWords), std::nullopt);
}

}  // namespace
}  // namespace hookgate
