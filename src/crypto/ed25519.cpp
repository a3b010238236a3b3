#include "crypto/ed25519.h"

#include <memory>
#include <stdexcept>

#include <openssl/err.h>
#include <openssl/evp.h>

#include "crypto/crypto_error.h"

namespace hookgate {
namespace {

struct FreeEvp {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

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

}  // namespace hookgate
