#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "domain/event.h"

namespace hookgate {

// How many keys a thread keeps ready; more still work, at the price of setting one up.
inline constexpr std::size_t kHmacKeysKeptMax = 16;

// HMAC-SHA256 under `key` over the parts, one after the other as if they were joined.
// Throws std::invalid_argument for an empty key, under which anybody could sign, and CryptoError
// when the library fails. Any thread: each keeps contexts of its own under the keys it saw last, so
// that a known key needs no setting up (OpenSSL 3.0: 0.5 us for 100 bytes instead of 0.9, 2.5 us
// for 3 KB instead of 3.0).
Digest hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts);

}  // namespace hookgate
