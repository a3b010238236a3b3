#include "crypto/hmac.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
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

// Contexts that hold a key, since giving them one costs as much as a body of 700 bytes: a gateway
// computes under the same few keys again and again. Used by one thread.
class KeyedContexts {
 public:
  KeyedContexts() = default;
  KeyedContexts(const KeyedContexts&) = delete;
  KeyedContexts& operator=(const KeyedContexts&) = delete;
  ~KeyedContexts() {
    for (auto& slot : slots_) forget(slot);
  }

  // A context under `key`, which is not empty, before its first byte. Good until the next call.
  EVP_MAC_CTX* start(std::string_view key) {
    const auto known = std::ranges::find(slots_, key, &Slot::key);
    if (known == slots_.end()) return start_anew(key);
    if (EVP_MAC_init(known->context.get(), nullptr, 0, nullptr) != 1) {
      throw CryptoError("HMAC-SHA256 did not start again");
    }
    return known->context.get();
  }

 private:
  struct Slot {
    std::string key;  // "" while the context holds none
    MacContext context;
  };

  static void forget(Slot& slot) {
    OPENSSL_cleanse(slot.key.data(), slot.key.size());
    slot.key.clear();
  }

  EVP_MAC_CTX* start_anew(std::string_view key) {
    auto& slot = slots_[next_];
    next_ = (next_ + 1) % slots_.size();
    forget(slot);
    if (!slot.context) slot.context = new_context();
    if (EVP_MAC_init(slot.context.get(), as_bytes(key), key.size(), nullptr) != 1) {
      throw CryptoError("HMAC-SHA256 took no key");
    }
    slot.key = key;
    return slot.context.get();
  }

  std::array<Slot, kHmacKeysKeptMax> slots_;
  std::size_t next_ = 0;  // to be replaced
};

}  // namespace

Digest hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts) {
  if (key.empty()) throw std::invalid_argument("an HMAC needs a key");
  thread_local KeyedContexts contexts;
  auto* const context = contexts.start(key);
  for (const auto part : parts) {
    if (EVP_MAC_update(context, as_bytes(part), part.size()) != 1) {
      throw CryptoError("HMAC-SHA256 took no bytes");
    }
  }
  Digest mac{};
  std::size_t written = 0;
  auto* out = reinterpret_cast<unsigned char*>(mac.data());
  if (EVP_MAC_final(context, out, &written, mac.size()) != 1 || written != mac.size()) {
    throw CryptoError("HMAC-SHA256 gave no result");
  }
  return mac;
}

}  // namespace hookgate
