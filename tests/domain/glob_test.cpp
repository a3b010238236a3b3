#include "domain/glob.h"

#include <gtest/gtest.h>

namespace hookgate {
namespace {

TEST(GlobTest, MatchesTheWholeText) {
  EXPECT_TRUE(matches_glob("charge.refunded", "charge.refunded"));
  EXPECT_FALSE(matches_glob("charge.refunded", "charge.refunded.x"));
  EXPECT_FALSE(matches_glob("charge", "charge.refunded"));
  EXPECT_FALSE(matches_glob("", "charge"));
  EXPECT_TRUE(matches_glob("", ""));
}

TEST(GlobTest, AStarIsAnyBytesOrNone) {
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_TRUE(matches_glob("charge.*", "charge."));
  EXPECT_TRUE(matches_glob("charge.*", "charge.dispute.created"));
  EXPECT_TRUE(matches_glob("*.created", "charge.dispute.created"));
  EXPECT_TRUE(matches_glob("a*b*c", "a.b.b.c"));
  EXPECT_FALSE(matches_glob("charge.*", "charges"));
  EXPECT_FALSE(matches_glob("a*b*c", "a.b.b"));
  EXPECT_TRUE(matches_glob("a**", "a"));
}

TEST(GlobTest, AQuestionMarkIsOneByteAndCaseCounts) {
  EXPECT_TRUE(matches_glob("REFUND?", "REFUND2"));
  EXPECT_FALSE(matches_glob("REFUND?", "REFUND"));
  EXPECT_FALSE(matches_glob("refund", "REFUND"));
}

TEST(GlobTest, ABackslashOrBracketIsItself) {
  EXPECT_TRUE(matches_glob("[a]\\", "[a]\\"));
  EXPECT_FALSE(matches_glob("[a]", "a"));
}

}  // namespace
}  // namespace hookgate
