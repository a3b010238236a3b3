#include "crypto/ed25519.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include <openssl/err.h>
#include <openssl/evp.h>

#include "crypto/crypto_error.h"
#include "crypto/encoding.h"

namespace hookgate {
namespace {

struct FreeEvp {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// The y of the points whose order divides 8, little-endian without the sign of x; p is 2^255 - 19.
// 0 and 1 have two spellings, as p and p + 1 fit too.
constexpr std::array<std::string_view, 7> kSmallOrder{
    "0000000000000000000000000000000000000000000000000000000000000000",   // 0, order 4
    "0100000000000000000000000000000000000000000000000000000000000000",   // 1, the neutral point
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",   // p - 1, order 2
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",   // p
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",   // p + 1
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",   // order 8
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"};  // order 8

const unsigned char* as_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

bool ed25519_verifies(std::string_view public_key, std::string_view message,
                      std::string_view signature) {
  if (public_key.size() != kEd25519PublicKeyBytes) {
    throw std::invalid_argument("an Ed25519 public key has 32 bytes");
  }
  if (signature.size() != kEd25519SignatureBytes) return false;
  const std::unique_ptr<EVP_PKEY, FreeEvp> key{EVP_PKEY_new_raw_public_key(
      EVP_PKEY_ED25519, nullptr, as_bytes(public_key), public_key.size())};
  const std::unique_ptr<EVP_MD_CTX, FreeEvp> context{EVP_MD_CTX_new()};
  if (!key || !context ||
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1) {
    throw CryptoError("Ed25519 is not available");
  }
  const bool right = EVP_DigestVerify(context.get(), as_bytes(signature), signature.size(),
                                      as_bytes(message), message.size()) == 1;
  // A wrong signature may leave a note in the thread's error queue, which nobody else should find.
  if (!right) ERR_clear_error();
  return right;
}

bool is_weak_ed25519_key(std::string_view public_key) {
  if (public_key.size() != kEd25519PublicKeyBytes) return false;
  std::string y{public_key};
  y.back() = static_cast<char>(static_cast<unsigned char>(y.back()) & 0x7FU);
  return std::ranges::find(kSmallOrder, hex_encode(y)) != kSmallOrder.end();
}

}  // namespace hookgate
