#include "store/recent_keys.h"

#include <string>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

TEST(RecentKeysTest, HasWhatWasAddedAndNothingElse) {
  RecentKeys keys;
  EXPECT_FALSE(keys.has("", "", ""));
  keys.add("stripe", "acct_1", "evt_1");
  EXPECT_TRUE(keys.has("stripe", "acct_1", "evt_1"));
  EXPECT_FALSE(keys.has("stripe", "acct_1", "evt_2"));
  EXPECT_FALSE(keys.has("stripe", "acct_2", "evt_1"));
  EXPECT_FALSE(keys.has("acct_1", "stripe", "evt_1"));
}

TEST(RecentKeysTest, KeepsTheLatestOfManyInTheSameMemory) {
  RecentKeys keys;
  const auto id = [](std::size_t number) { return "evt_" + std::to_string(number); };
  for (std::size_t i = 0; i < RecentKeys::kSlots * 3; ++i) keys.add("stripe", "", id(i));
  EXPECT_TRUE(keys.has("stripe", "", id(RecentKeys::kSlots * 3 - 1)));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < RecentKeys::kSlots * 3; ++i)
    kept += keys.has("stripe", "", id(i)) ? 1 : 0;
  EXPECT_LE(kept, RecentKeys::kSlots);
  EXPECT_GT(kept, RecentKeys::kSlots / 10 * 9);
}

}  // namespace
}  // namespace hookgate
