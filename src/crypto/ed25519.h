#pragma once

#include <cstddef>
#include <string_view>

namespace hookgate {

inline constexpr std::size_t kEd25519PublicKeyBytes = 32;
inline constexpr std::size_t kEd25519SignatureBytes = 64;

// Whether `signature` is the key owner's over `message` (RFC 8032, pure Ed25519). A signature of
// another length is just wrong. Throws std::invalid_argument for a key that is not 32 bytes, and
// CryptoError when the library fails. Any thread; some 80 us a call.
bool ed25519_verifies(std::string_view public_key, std::string_view message,
                      std::string_view signature);

// Whether the key is a point of small order: anybody can make signatures that hold for such a key.
// All of them are known, in every spelling. For keys of 32 bytes; others are not weak but wrong.
bool is_weak_ed25519_key(std::string_view public_key);

}  // namespace hookgate
