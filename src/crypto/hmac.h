#pragma once

#include <initializer_list>
#include <string_view>

#include "domain/event.h"

namespace hookgate {

// HMAC-SHA256 under `key` over the parts, one after the other as if they were joined.
// Throws std::invalid_argument for an empty key, under which anybody could sign, and CryptoError
// when the library fails. Any thread: each keeps a context of its own and gives it a new key per
// call, which is the cheapest way measured (OpenSSL 3.0).
Digest hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts);

}  // namespace hookgate
