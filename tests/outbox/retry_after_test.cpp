#include "outbox/retry_after.h"

#include <gtest/gtest.h>

namespace hookgate {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

const auto kNow = *parse_instant("1994-11-06T08:49:00Z");

std::optional<milliseconds> parsed(std::string_view value) {
  return parse_retry_after(value, kNow, hours{1});
}

TEST(RetryAfterTest, IsANumberOfSeconds) {
  EXPECT_EQ(parsed("120"), seconds{120});
  EXPECT_EQ(parsed(" 0 "), seconds{0});
}

TEST(RetryAfterTest, IsADateInAnyFormOfHttp) {
  EXPECT_EQ(parsed("Sun, 06 Nov 1994 08:49:37 GMT"), seconds{37});
  EXPECT_EQ(parsed("Sunday, 06-Nov-94 08:49:37 GMT"), seconds{37});
  EXPECT_EQ(parsed("Sun Nov  6 08:49:37 1994"), seconds{37});
}

TEST(RetryAfterTest, IsNoTimeAtAllForADateThatIsOver) {
  EXPECT_EQ(parsed("Sun, 06 Nov 1994 08:48:00 GMT"), seconds{0});
}

TEST(RetryAfterTest, EndsAtTheLimit) {
  EXPECT_EQ(parsed("3601"), hours{1});
  EXPECT_EQ(parsed("99999999999999999999999999"), hours{1});
  EXPECT_EQ(parsed("Mon, 06 Nov 2034 08:49:37 GMT"), hours{1});
}

TEST(RetryAfterTest, IsNothingForWhatIsNeither) {
  for (const auto* value : {"", "soon", "-1", "1.5", "12s", "Sun, 06 Nov 1994 08:49:37 CET",
                            "Sun, 06 Nov 1994 08:49:37 GMT and more"}) {
    EXPECT_EQ(parsed(value), std::nullopt) << value;
  }
}

}  // namespace
}  // namespace hookgate
