#include "crypto/encoding.h"

#include <array>
#include <cstdint>

// Of our own: OpenSSL's decoders trim white space, take colons and misplaced padding, and keep the
// padding's zero bytes.

namespace hookgate {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr char kPadding = '=';
constexpr std::uint8_t kNoDigit = 0xFF;

constexpr auto kBase64Values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kBase64Digits.size(); ++i) {
    values[static_cast<unsigned char>(kBase64Digits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

// A table, as the digits of a signature are random and branches on them would be mispredicted.
constexpr auto kHexValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kHexDigits.size(); ++i) {
    values[static_cast<unsigned char>(kHexDigits[i])] = static_cast<std::uint8_t>(i);
    if (i >= 10)
      values[static_cast<unsigned char>(kHexDigits[i] - 'a' + 'A')] =
          values[static_cast<unsigned char>(kHexDigits[i])];
  }
  return values;
}();

std::uint8_t hex_value(char digit) {
  return kHexValues[static_cast<unsigned char>(digit)];
}

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
}

}  // namespace

std::string hex_encode(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kHexDigits[byte >> 4U];
    text += kHexDigits[byte & 15U];
  }
  return text;
}

std::optional<std::string> hex_decode(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto high = hex_value(text[i]);
    const auto low = hex_value(text[i + 1]);
    if (high == kNoDigit || low == kNoDigit) return std::nullopt;
    bytes += static_cast<char>((high << 4U) | low);
  }
  return bytes;
}

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto group =
        (byte_at(bytes, i) << 16U) | (byte_at(bytes, i + 1) << 8U) | byte_at(bytes, i + 2);
    text += kBase64Digits[(group >> 18U) & 63U];
    text += kBase64Digits[(group >> 12U) & 63U];
    text += i + 1 < bytes.size() ? kBase64Digits[(group >> 6U) & 63U] : kPadding;
    text += i + 2 < bytes.size() ? kBase64Digits[group & 63U] : kPadding;
  }
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  const auto digits = text.substr(0, text.size() - padding);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t pending = 0;
  unsigned pending_bits = 0;
  for (const char c : digits) {
    const auto value = kBase64Values[static_cast<unsigned char>(c)];
    if (value == kNoDigit) return std::nullopt;
    pending = (pending << 6U) | value;
    pending_bits += 6;
    if (pending_bits < 8) continue;
    pending_bits -= 8;
    bytes += static_cast<char>(pending >> pending_bits);
    pending &= (1U << pending_bits) - 1;
  }
  if (pending != 0) return std::nullopt;
  return bytes;
}

}  // namespace hookgate
