#pragma once

#include <string_view>

#include "domain/event.h"

namespace hookgate {

// SHA-256 of the bytes. Throws CryptoError. Any thread.
Digest sha256(std::string_view bytes);

// The digest's 32 bytes as text functions take them; lives as long as the digest.
std::string_view bytes_of(const Digest& digest);

}  // namespace hookgate
