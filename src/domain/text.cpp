#include "domain/text.h"

namespace hookgate {
namespace {

// Length of the valid UTF-8 sequence at the front; 0 if there is none.
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = at(1);
  if (first == 0xE0 && second < 0xA0) return 0;  // overlong
  if (first == 0xED && second > 0x9F) return 0;  // surrogates
  if (first == 0xF0 && second < 0x90) return 0;  // overlong
  if (first == 0xF4 && second > 0x8F) return 0;  // past U+10FFFF
  return length;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

bool is_valid_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto length = sequence_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string clean_text(std::string_view bytes, std::size_t bytes_max) {
  std::string result;
  while (!bytes.empty()) {
    const auto length = sequence_length(bytes);
    const bool bad = length == 0 || bytes.front() == '\0';
    const auto piece = bad ? kReplacement : bytes.substr(0, length);
    if (result.size() + piece.size() > bytes_max) break;
    result += piece;
    bytes.remove_prefix(bad ? 1 : length);
  }
  return result;
}

}  // namespace hookgate
