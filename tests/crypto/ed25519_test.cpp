#include "crypto/ed25519.h"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "crypto/encoding.h"

namespace hookgate {
namespace {

// RFC 8032, section 7.1, test 2: a message of one byte.
class Ed25519Test : public testing::Test {
 protected:
  std::string key_ =
      *hex_decode("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  std::string message_ = "\x72";
  std::string signature_ = *hex_decode(
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
      "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
};

TEST_F(Ed25519Test, AcceptsTheSignatureOfRfc8032) {
  EXPECT_TRUE(ed25519_verifies(key_, message_, signature_));
}

TEST_F(Ed25519Test, AcceptsTheSignatureOfAnEmptyMessage) {
  const auto key = *hex_decode("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  const auto signature = *hex_decode(
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
      "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b");
  EXPECT_TRUE(ed25519_verifies(key, "", signature));
}

TEST_F(Ed25519Test, KnowsAKeyThatAnybodyCanSignFor) {
  EXPECT_FALSE(is_weak_ed25519_key(key_));
  const std::string neutral = "\x01" + std::string(31, '\0');
  // The neutral point as both key and half of the signature, with 0 as the other half, fits any
  // message.
  EXPECT_TRUE(ed25519_verifies(neutral, "anything", neutral + std::string(32, '\0')));
  EXPECT_TRUE(is_weak_ed25519_key(neutral));
  EXPECT_TRUE(is_weak_ed25519_key(std::string(32, '\0')));
  EXPECT_TRUE(is_weak_ed25519_key(std::string(31, '\0') + "\x80"));  // with the sign of x set
  EXPECT_TRUE(is_weak_ed25519_key("\xEC" + std::string(30, '\xFF') + "\x7F"));
  EXPECT_TRUE(is_weak_ed25519_key("\xEE" + std::string(31, '\xFF')));
}

TEST_F(Ed25519Test, RefusesAnotherMessage) {
  EXPECT_FALSE(ed25519_verifies(key_, "\x73", signature_));
}

TEST_F(Ed25519Test, RefusesAChangedSignature) {
  signature_[10] ^= 1;
  EXPECT_FALSE(ed25519_verifies(key_, message_, signature_));
}

TEST_F(Ed25519Test, RefusesASignatureOfAnotherLength) {
  EXPECT_FALSE(ed25519_verifies(key_, message_, signature_.substr(0, 63)));
  EXPECT_FALSE(ed25519_verifies(key_, message_, signature_ + '\0'));
  EXPECT_FALSE(ed25519_verifies(key_, message_, ""));
}

TEST_F(Ed25519Test, ThrowsForAKeyOfAnotherLength) {
  EXPECT_THROW(ed25519_verifies(key_.substr(1), message_, signature_), std::invalid_argument);
}

}  // namespace
}  // namespace hookgate
