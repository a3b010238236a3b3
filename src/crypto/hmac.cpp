#include "crypto/hmac.h"

#include <memory>
#include <stdexcept>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "crypto/crypto_error.h"

namespace hookgate {
namespace {

struct FreeMac {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using MacContext = std::unique_ptr<EVP_MAC_CTX, FreeMac>;

MacContext new_context() {
  const std::unique_ptr<EVP_MAC, FreeMac> mac{EVP_MAC_fetch(nullptr, "HMAC", nullptr)};
  if (!mac) throw CryptoError("HMAC is not available");
  MacContext context{EVP_MAC_CTX_new(mac.get())};
  if (!context) throw CryptoError("no HMAC context");
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  if (EVP_MAC_CTX_set_params(context.get(), parameters) != 1) {
    throw CryptoError("HMAC-SHA256 is not available");
  }
  return context;
}

const unsigned char* as_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Digest hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts) {
  if (key.empty()) throw std::invalid_argument("an HMAC needs a key");
  thread_local const MacContext context = new_context();
  if (EVP_MAC_init(context.get(), as_bytes(key), key.size(), nullptr) != 1) {
    throw CryptoError("HMAC-SHA256 took no key");
  }
  for (const auto part : parts) {
    if (EVP_MAC_update(context.get(), as_bytes(part), part.size()) != 1) {
      throw CryptoError("HMAC-SHA256 took no bytes");
    }
  }
  Digest mac{};
  std::size_t written = 0;
  auto* out = reinterpret_cast<unsigned char*>(mac.data());
  if (EVP_MAC_final(context.get(), out, &written, mac.size()) != 1 || written != mac.size()) {
    throw CryptoError("HMAC-SHA256 gave no result");
  }
  return mac;
}

}  // namespace hookgate
