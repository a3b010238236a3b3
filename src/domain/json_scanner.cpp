#include "domain/json_scanner.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "domain/plain_text.h"
#include "domain/text.h"

namespace hookgate {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::ptrdiff_t kUnicodeEscapeBytes = 6;  // \uXXXX

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_high_surrogate(std::uint32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low_surrogate(std::uint32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

// The UTF-16 unit that a \uXXXX at `at` stands for; nothing if there is no such escape.
std::optional<std::uint32_t> unicode_escape(const char* at, const char* end) {
  if (end - at < kUnicodeEscapeBytes || at[0] != '\\' || at[1] != 'u') return std::nullopt;
  std::uint32_t unit = 0;
  for (const char c : std::string_view{at + 2, 4}) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool is_letter = lower >= 'a' && lower <= 'f';
    if (!is_letter && !is_digit(c)) return std::nullopt;
    unit = unit * 16 + static_cast<std::uint32_t>(is_letter ? lower - 'a' + 10 : c - '0');
  }
  return unit;
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto continuation = [&](unsigned shift) {
    return static_cast<char>(0x80U | ((point >> shift) & 0x3FU));
  };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += {static_cast<char>(0xC0U | (point >> 6U)), continuation(0)};
  } else if (point < 0x10000) {
    out += {static_cast<char>(0xE0U | (point >> 12U)), continuation(6), continuation(0)};
  } else {
    out += {static_cast<char>(0xF0U | (point >> 18U)), continuation(12), continuation(6),
            continuation(0)};
  }
}

// What the letter behind a backslash stands for; NUL for no such letter.
char simple_escape(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/': return letter;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return '\0';
  }
}

// Appends what the valid escape at `at` stands for; the byte behind it.
const char* append_escape(std::string& out, const char* at, const char* end) {
  const auto unit = unicode_escape(at, end);
  if (!unit) {
    out += simple_escape(at[1]);
    return at + 2;
  }
  if (!is_high_surrogate(*unit)) {
    append_utf8(out, *unit);
    return at + kUnicodeEscapeBytes;
  }
  const auto low = *unicode_escape(at + kUnicodeEscapeBytes, end);
  append_utf8(out, 0x10000 + ((*unit - 0xD800) << 10U) + (low - 0xDC00));
  return at + 2 * kUnicodeEscapeBytes;
}

}  // namespace

JsonScanner::JsonScanner(std::string_view bytes, JsonLimits limits)
    : begin_(bytes.data()), end_(bytes.data() + bytes.size()), at_(begin_), limits_(limits) {
  if (bytes.starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
  constexpr std::size_t kBytesPerToken = 12;  // about, in a provider's event
  tokens_.reserve(bytes.size() / kBytesPerToken + 1);
}

bool JsonScanner::scan() {
  const std::string_view bytes{begin_, static_cast<std::size_t>(end_ - begin_)};
  if (const auto nul = bytes.find('\0'); nul != std::string_view::npos) {
    error_ = {"NUL byte at byte " + std::to_string(nul)};
    return false;
  }
  if (!scan_value()) return false;
  skip_blanks();
  return at_ == end_ || fail();
}

bool JsonScanner::scan_value() {
  skip_blanks();
  switch (peek()) {
    case '{': return scan_object();
    case '[': return scan_array();
    case '"': return scan_string();
    case 't': return scan_literal("true", Json::Kind::kBoolean, true);
    case 'f': return scan_literal("false", Json::Kind::kBoolean, false);
    case 'n': return scan_literal("null", Json::Kind::kNull, false);
    default: return scan_number();
  }
}

bool JsonScanner::scan_array() {
  if (!open(Json::Kind::kArray)) return false;
  const auto array = tokens_.size() - 1;
  skip_blanks();
  if (!skip(']')) {
    do {
      if (!scan_value()) return false;
      ++tokens_[array].size;
      skip_blanks();
    } while (skip(','));
    if (!skip(']')) return fail();
  }
  --depth_;
  return true;
}

bool JsonScanner::scan_object() {
  if (!open(Json::Kind::kObject)) return false;
  const auto object = tokens_.size() - 1;
  skip_blanks();
  if (!skip('}')) {
    do {
      if (!scan_name() || !scan_value()) return false;
      ++tokens_[object].size;
      skip_blanks();
    } while (skip(','));
    if (!skip('}')) return fail();
  }
  --depth_;
  return true;
}

bool JsonScanner::scan_name() {
  skip_blanks();
  if (peek() != '"') return fail();
  if (!scan_string()) return false;
  skip_blanks();
  return skip(':') || fail();
}

bool JsonScanner::scan_string() {
  const char* begin = ++at_;
  bool has_escapes = false;
  while (true) {
    at_ = skip_plain_text(at_, end_);
    const char c = peek();
    if (c == '"') break;
    if (c == '\\') {
      has_escapes = true;
      if (!skip_escape()) return false;
    } else if (static_cast<unsigned char>(c) < 0x20) {  // the end too
      return fail();
    } else if (!skip_non_ascii()) {
      return false;
    }
  }
  add(Json::Kind::kString, begin, has_escapes);
  ++at_;
  return true;
}

bool JsonScanner::skip_escape() {
  if (end_ - at_ >= 2 && simple_escape(at_[1]) != '\0') {
    at_ += 2;
    return true;
  }
  const auto unit = unicode_escape(at_, end_);
  if (!unit) return fail();
  if (is_low_surrogate(*unit)) return fail("lone surrogate", at_);
  if (is_high_surrogate(*unit)) {
    const auto low = unicode_escape(at_ + kUnicodeEscapeBytes, end_);
    if (!low || !is_low_surrogate(*low)) return fail("lone surrogate", at_);
    at_ += kUnicodeEscapeBytes;
  }
  at_ += kUnicodeEscapeBytes;
  return true;
}

bool JsonScanner::skip_non_ascii() {
  const char* begin = at_;
  at_ = std::find_if(at_, end_, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const std::string_view run{begin, static_cast<std::size_t>(at_ - begin)};
  return is_valid_utf8(run) || fail("invalid UTF-8", begin);
}

bool JsonScanner::scan_number() {
  const char* begin = at_;
  skip('-');
  if (!skip('0') && !skip_digits()) return fail();
  if (skip('.') && !skip_digits()) return fail();
  if (skip('e') || skip('E')) {
    if (!skip('+')) skip('-');
    if (!skip_digits()) return fail();
  }
  add(Json::Kind::kNumber, begin);
  return true;
}

// At least one.
bool JsonScanner::skip_digits() {
  const char* begin = at_;
  while (at_ != end_ && is_digit(*at_)) ++at_;
  return at_ != begin;
}

bool JsonScanner::scan_literal(std::string_view literal, Json::Kind kind, bool flag) {
  const char* begin = at_;
  for (const char c : literal) {
    if (!skip(c)) return fail();
  }
  add(kind, begin, flag);
  return true;
}

bool JsonScanner::open(Json::Kind kind) {
  if (depth_ >= limits_.depth_max) {
    error_.message = "nested deeper than " + std::to_string(limits_.depth_max);
    return false;
  }
  ++depth_;
  tokens_.push_back({at_++, 0, kind, false});
  return true;
}

void JsonScanner::add(Json::Kind kind, const char* begin, bool flag) {
  tokens_.push_back({begin, static_cast<std::size_t>(at_ - begin), kind, flag});
}

void JsonScanner::skip_blanks() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
}

bool JsonScanner::skip(char expected) {
  if (at_ == end_ || *at_ != expected) return false;
  ++at_;
  return true;
}

bool JsonScanner::fail(std::string_view what, const char* where) {
  error_.message = std::string{what} + " at byte " + std::to_string(where - begin_ + 1);
  return false;
}

void decode_json_string(const JsonToken& token, std::string& out) {
  if (!token.flag) {
    out.assign(token.begin, token.size);
    return;
  }
  const char* end = token.begin + token.size;
  out.reserve(token.size);
  for (const char* at = token.begin; at != end;) {
    const char* escape = std::find(at, end, '\\');
    out.append(at, escape);
    at = escape == end ? end : append_escape(out, escape, end);
  }
}

}  // namespace hookgate
