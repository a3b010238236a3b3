#include "crypto/hmac.h"

#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace hookgate {
namespace {

std::string hmac_hex(std::string_view key, std::initializer_list<std::string_view> parts) {
  return hex_encode(bytes_of(hmac_sha256(key, parts)));
}

// RFC 4231, cases 1, 2, 3 and 6.
TEST(HmacTest, GivesTheResultOfRfc4231ForAShortKey) {
  EXPECT_EQ(hmac_hex(std::string(20, '\x0b'), {"Hi There"}),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}

TEST(HmacTest, GivesTheResultOfRfc4231ForATextKey) {
  EXPECT_EQ(hmac_hex("Jefe", {"what do ya want for nothing?"}),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(HmacTest, GivesTheResultOfRfc4231ForBytesAbove127) {
  EXPECT_EQ(hmac_hex(std::string(20, '\xaa'), {std::string(50, '\xdd')}),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
}

TEST(HmacTest, HashesAKeyLongerThanABlockFirst) {
  EXPECT_EQ(hmac_hex(std::string(131, '\xaa'),
                     {"Test Using Larger Than Block-Size Key - Hash Key First"}),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(HmacTest, TakesPartsAsIfTheyWereJoined) {
  EXPECT_EQ(hmac_sha256("key", {"1767225600", ".", "", "body"}),
            hmac_sha256("key", {"1767225600.body"}));
}

TEST(HmacTest, SignsBytesBehindANul) {
  using namespace std::string_view_literals;
  EXPECT_NE(hmac_sha256("key", {"a\0b"sv}), hmac_sha256("key", {"a\0c"sv}));
}

TEST(HmacTest, RefusesAnEmptyKey) {
  EXPECT_THROW(hmac_sha256("", {"text"}), std::invalid_argument);
}

TEST(HmacTest, ForgetsTheKeyAndTextOfTheCallBefore) {
  const auto before = hmac_sha256("key", {"text"});
  hmac_sha256("another, much longer key", {"another text"});
  EXPECT_EQ(hmac_sha256("key", {"text"}), before);
}

TEST(HmacTest, GivesTheSameResultsWhenItSawMoreKeysThanItKeeps) {
  std::vector<std::string> keys;
  std::vector<Digest> expected;
  for (std::size_t i = 0; i < 2 * kHmacKeysKeptMax + 1; ++i) {
    keys.push_back("key " + std::to_string(i));
    // In a thread of its own, which has seen no key before.
    std::jthread{[&] { expected.push_back(hmac_sha256(keys.back(), {"text"})); }}.join();
  }
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(hmac_sha256(keys[i], {"text"}), expected[i]) << round << ' ' << i;
      EXPECT_EQ(hmac_sha256(keys[i], {"te", "xt"}), expected[i]) << round << ' ' << i;
    }
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(hmac_sha256(keys[keys.size() - 1 - i], {"text"}), expected[keys.size() - 1 - i]);
  }
}

TEST(HmacTest, TellsApartKeysOfWhichOneBeginsTheOther) {
  // In a thread that saw neither key before.
  std::jthread{[] {
    const auto longer = hmac_sha256("key 1", {"text"});
    EXPECT_NE(hmac_sha256("key", {"text"}), longer);
    EXPECT_EQ(hmac_sha256("key 1", {"text"}), longer);
  }}.join();
}

TEST(HmacTest, GivesTheSameResultsInThreadsAtOnce) {
  constexpr int kThreads = 4;
  const auto expected = hmac_sha256("key 3", {"text"});
  std::vector<int> wrong(kThreads, 0);
  std::latch all_started{kThreads};
  {
    std::vector<std::jthread> threads;
    threads.reserve(wrong.size());
    for (auto& count : wrong) {
      threads.emplace_back([&] {
        all_started.arrive_and_wait();
        for (int i = 0; i < 10'000; ++i) {
          hmac_sha256("another key", {"another text"});
          if (hmac_sha256("key 3", {"text"}) != expected) ++count;
        }
      });
    }
  }
  EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
}

}  // namespace
}  // namespace hookgate
