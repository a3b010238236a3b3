#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hookgate {

// Lower-case hex digits, two a byte.
std::string hex_encode(std::string_view bytes);

// Bytes of an even number of hex digits in either case, and nothing else; "" gives no bytes.
std::optional<std::string> hex_decode(std::string_view text);

// RFC 4648 base64: standard alphabet, padded.
std::string base64_encode(std::string_view bytes);

// The inverse of base64_encode and no more: no white space, no other alphabet, padding where it
// belongs, unused bits zero. So every byte string has exactly one text.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace hookgate
