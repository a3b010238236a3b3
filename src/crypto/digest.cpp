#include "crypto/digest.h"

#include <openssl/evp.h>

#include "crypto/crypto_error.h"

namespace hookgate {
namespace {

// Fetched once: EVP_sha256() would look the algorithm up in its tables for every digest.
const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  if (algorithm == nullptr) throw CryptoError("SHA-256 is not available");
  return algorithm;
}

}  // namespace

Digest sha256(std::string_view bytes) {
  Digest digest{};
  auto* out = reinterpret_cast<unsigned char*>(digest.data());
  if (EVP_Digest(bytes.data(), bytes.size(), out, nullptr, sha256_algorithm(), nullptr) != 1) {
    throw CryptoError("SHA-256 failed");
  }
  return digest;
}

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace hookgate
