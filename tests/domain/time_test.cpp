#include "domain/time.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace hookgate {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SystemTime kNewYear2026{seconds{1'767'225'600}};

TEST(ParseUnixSecondsTest, ReadsPlainDigits) {
  EXPECT_EQ(parse_unix_seconds("1767225600"), kNewYear2026);
  EXPECT_EQ(parse_unix_seconds("0"), SystemTime{});
}

TEST(ParseUnixSecondsTest, ReadsTwelveDigitsWithoutOverflow) {
  EXPECT_EQ(parse_unix_seconds("999999999999"), SystemTime{seconds{999'999'999'999}});
}

class BadUnixSecondsTest : public testing::TestWithParam<std::string> {};

TEST_P(BadUnixSecondsTest, IsRefused) {
  EXPECT_EQ(parse_unix_seconds(GetParam()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Time, BadUnixSecondsTest,
                         testing::Values("", " ", "-1", "+1", " 1", "1 ", "1.5", "1e9", "0x1", "00",
                                         "01767225600", "1767225600x", "1767225600000", "soon",
                                         std::string(400, '9')),
                         [](const auto& row) { return "Text" + std::to_string(row.index); });

TEST(ParseInstantTest, ReadsUtc) {
  EXPECT_EQ(parse_instant("2026-01-01T00:00:00Z"), kNewYear2026);
}

TEST(ParseInstantTest, TakesTheOffsetOff) {
  EXPECT_EQ(parse_instant("2026-01-01T01:00:00+01:00"), kNewYear2026);
  EXPECT_EQ(parse_instant("2025-12-31T19:00:00-05:00"), kNewYear2026);
  EXPECT_EQ(parse_instant("2026-01-01T02:12:00+02:12"), kNewYear2026);
}

TEST(ParseInstantTest, ReadsFractionsToTheMicrosecond) {
  EXPECT_EQ(parse_instant("2026-01-01T00:00:00.123Z"), kNewYear2026 + milliseconds{123});
  EXPECT_EQ(parse_instant("2026-01-01T00:00:00.123456789Z"), kNewYear2026 + microseconds{123'456});
}

TEST(ParseInstantTest, ReadsALeapDay) {
  EXPECT_EQ(parse_instant("2024-02-29T00:00:00Z"), SystemTime{seconds{1'709'164'800}});
}

class BadInstantTest : public testing::TestWithParam<std::string> {};

TEST_P(BadInstantTest, IsRefused) {
  EXPECT_EQ(parse_instant(GetParam()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Time, BadInstantTest,
                         testing::Values("", "2026-01-01", "2026-01-01T00:00:00",
                                         "2026-01-01T00:00Z", "2026-13-01T00:00:00Z",
                                         "2026-02-29T00:00:00Z", "2026-01-32T00:00:00Z",
                                         "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
                                         "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
                                         "2026-01-01T00:00:00+1:00", "2026-01-01T00:00:00+24:00",
                                         "2026-01-01T00:00:00Z ", " 2026-01-01T00:00:00Z",
                                         "26-01-01T00:00:00Z", "soon"),
                         [](const auto& row) { return "Text" + std::to_string(row.index); });

TEST(FormatInstantTest, WritesUtcWithoutAnEmptyFraction) {
  EXPECT_EQ(format_instant(kNewYear2026), "2026-01-01T00:00:00Z");
}

TEST(FormatInstantTest, WritesSixDigitsOfAFraction) {
  EXPECT_EQ(format_instant(kNewYear2026 + milliseconds{5}), "2026-01-01T00:00:00.005000Z");
}

TEST(UnixSecondsTest, RoundsDownAlsoBefore1970) {
  EXPECT_EQ(unix_seconds(kNewYear2026 + milliseconds{999}), 1'767'225'600);
  EXPECT_EQ(unix_seconds(SystemTime{milliseconds{-1}}), -1);
}

RC_GTEST_PROP(TimeProperty, AnInstantComesBackFromItsText, ()) {
  const auto micros = *rc::gen::inRange<long long>(0, 253'402'300'799'000'000);
  const SystemTime instant{microseconds{micros}};
  RC_ASSERT(parse_instant(format_instant(instant)) == instant);
}

}  // namespace
}  // namespace hookgate
