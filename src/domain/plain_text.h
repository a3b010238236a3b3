#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hookgate {

inline constexpr auto kIsPlainText = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0x20; byte < 0x80; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

// The first byte in [begin, end) that a JSON string cannot hold as it is or that needs a look: a
// quote, a backslash, a control character, a byte outside ASCII. Eight at a time: a body is mostly
// such text.
inline const char* skip_plain_text(const char* begin, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x80 * kOnes;
  for (; end - begin >= 8; begin += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, begin, sizeof word);
    const auto quote = word ^ ('"' * kOnes);
    const auto backslash = word ^ ('\\' * kOnes);
    // A subtraction borrows into the high bit of a byte that is smaller. Bytes above the first hit
    // may be hit wrongly, the first is right.
    const auto below_space = (word - 0x20 * kOnes) & ~word;
    const auto is_quote = (quote - kOnes) & ~quote;
    const auto is_backslash = (backslash - kOnes) & ~backslash;
    const auto hits = (below_space | is_quote | is_backslash | word) & kHighs;
    if (hits == 0) continue;
    if constexpr (std::endian::native == std::endian::little) {
      return begin + std::countr_zero(hits) / 8;
    }
    break;
  }
  while (begin != end && kIsPlainText[static_cast<unsigned char>(*begin)]) ++begin;
  return begin;
}

}  // namespace hookgate
