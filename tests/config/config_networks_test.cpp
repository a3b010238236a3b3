#include "config_networks.h"

#include <gtest/gtest.h>

namespace hookgate {
namespace {

TEST(NetworkSuggestionTest, ClearsTheBitsBehindThePrefix) {
  EXPECT_EQ(suggest_network("10.1.2.3/8"), "10.0.0.0/8");
  EXPECT_EQ(suggest_network("192.0.2.200/26"), "192.0.2.192/26");
  EXPECT_EQ(suggest_network("1.2.3.4/0"), "0.0.0.0/0");
  EXPECT_EQ(suggest_network("2001:db8::1/33"), "2001:db8::/33");
}

TEST(NetworkSuggestionTest, LeavesOutBlanksAndBrackets) {
  EXPECT_EQ(suggest_network(" 10.0.0.0/8 "), "10.0.0.0/8");
  EXPECT_EQ(suggest_network("[::1]"), "::1");
  EXPECT_EQ(suggest_network(" 10.0.0.1/8"), "10.0.0.0/8");
}

TEST(NetworkSuggestionTest, HasNothingForWhatIsNoBlockAtAll) {
  for (const auto* text :
       {"", " ", "[]", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.*", "10/8", "localhost",
        "unix:", "10.0.0.0/8/8", "::/129", "10.0.0.0/99999999999"})
    EXPECT_EQ(suggest_network(text), std::nullopt) << text;
}

}  // namespace
}  // namespace hookgate
