#include "domain/json_scanner.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
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

// The first byte that is no space. Eight at a time: much of a body is indentation.
char* skip_spaces(char* at) {
  constexpr std::uint64_t kSpaces = 0x2020202020202020;
  static_assert(sizeof kSpaces <= kJsonPaddingBytes);
  for (;; at += sizeof kSpaces) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    if (word == kSpaces) continue;
    if constexpr (std::endian::native == std::endian::little) {
      return at + std::countr_zero(word ^ kSpaces) / 8;
    }
    return std::find_if(at, at + sizeof word, [](char c) { return c != ' '; });
  }
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

char* write_utf8(char* out, std::uint32_t point) {
  const auto continuation = [&](unsigned shift) {
    return static_cast<char>(0x80U | ((point >> shift) & 0x3FU));
  };
  if (point < 0x80) {
    *out++ = static_cast<char>(point);
  } else if (point < 0x800) {
    *out++ = static_cast<char>(0xC0U | (point >> 6U));
  } else if (point < 0x10000) {
    *out++ = static_cast<char>(0xE0U | (point >> 12U));
    *out++ = continuation(6);
  } else {
    *out++ = static_cast<char>(0xF0U | (point >> 18U));
    *out++ = continuation(12);
    *out++ = continuation(6);
  }
  if (point >= 0x80) *out++ = continuation(0);
  return out;
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

// Writes what the valid escape at `at` stands for and moves both behind it.
void decode_escape(char*& out, const char*& at, const char* end) {
  const auto unit = unicode_escape(at, end);
  if (!unit) {
    *out++ = simple_escape(at[1]);
    at += 2;
    return;
  }
  at += kUnicodeEscapeBytes;
  auto point = *unit;
  if (is_high_surrogate(point)) {
    const auto low = *unicode_escape(at, end);
    at += kUnicodeEscapeBytes;
    point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
  }
  out = write_utf8(out, point);
}

// Decodes a valid string in place, since no escape is shorter than what it stands for. The end of
// the decoded text.
const char* decode_string(char* begin, const char* end) {
  char* out = begin;
  for (const char* at = begin; at != end;) {
    const char* escape = std::find(at, end, '\\');
    out = std::copy(at, escape, out);
    at = escape;
    if (at != end) decode_escape(out, at, end);
  }
  return out;
}

}  // namespace

bool JsonScanner::scan(std::string_view bytes) {
  if (refuse_unread(bytes)) return false;
  copy(bytes);
  if (bytes.starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
  if (!scan_value()) return false;
  skip_blanks();
  return at_ == end_ || fail();
}

bool JsonScanner::refuse_unread(std::string_view bytes) {
  if (bytes.size() > limits_.bytes_max) {
    error_ = {"longer than " + std::to_string(limits_.bytes_max) + " bytes"};
    return true;
  }
  const auto nul = bytes.find('\0');
  if (nul != std::string_view::npos) error_ = {"NUL byte at byte " + std::to_string(nul)};
  return nul != std::string_view::npos;
}

void JsonScanner::copy(std::string_view bytes) {
  storage_->text = std::make_unique_for_overwrite<char[]>(bytes.size() + kJsonPaddingBytes);
  at_ = storage_->text.get();
  begin_ = at_;
  end_ = begin_ + bytes.size();
  bytes.copy(at_, bytes.size());
  std::fill_n(at_ + bytes.size(), kJsonPaddingBytes, '\0');
  constexpr std::size_t kBytesPerToken = 12;  // about, in a provider's event
  tokens_.reserve(bytes.size() / kBytesPerToken + 1);
}

bool JsonScanner::scan_value() {
  skip_blanks();
  switch (*at_) {
    case '{': return scan_object();
    case '[': return scan_array();
    case '"': return scan_string();
    case 't': return scan_literal("true", Json::Kind::kBoolean);
    case 'f': return scan_literal("false", Json::Kind::kBoolean);
    case 'n': return scan_literal("null", Json::Kind::kNull);
    default: return scan_number();
  }
}

bool JsonScanner::scan_array() {
  if (!open(Json::Kind::kArray)) return false;
  const auto array = tokens_.size() - 1;
  std::uint32_t elements = 0;
  skip_blanks();
  if (!skip(']')) {
    do {
      if (!scan_value()) return false;
      ++elements;
      skip_blanks();
    } while (skip(','));
    if (!skip(']')) return fail();
  }
  close(array, elements);
  return true;
}

bool JsonScanner::scan_object() {
  if (!open(Json::Kind::kObject)) return false;
  const auto object = tokens_.size() - 1;
  std::uint32_t members = 0;
  skip_blanks();
  if (!skip('}')) {
    do {
      if (!scan_member()) return false;
      ++members;
      skip_blanks();
    } while (skip(','));
    if (!skip('}')) return fail();
  }
  close(object, members);
  return true;
}

bool JsonScanner::scan_member() {
  const auto name = tokens_.size();
  skip_blanks();
  if (*at_ != '"') return fail();
  if (!scan_string()) return false;
  skip_blanks();
  if (!skip(':')) return fail();
  if (!scan_value()) return false;
  end_span(name);
  return true;
}

bool JsonScanner::scan_string() {
  char* begin = ++at_;
  bool has_escapes = false;
  while (true) {
    at_ += skip_plain_text(at_, end_) - at_;
    if (*at_ == '"') break;
    has_escapes = has_escapes || *at_ == '\\';
    if (!scan_special()) return false;
  }
  const char* end = has_escapes ? decode_string(begin, at_) : at_;
  add(Json::Kind::kString, begin, end, has_escapes);
  ++at_;
  return true;
}

// What stands in a string and is no plain text.
bool JsonScanner::scan_special() {
  if (*at_ == '\\') return skip_escape();
  if (static_cast<unsigned char>(*at_) < 0x20) return fail();  // the end too
  return skip_non_ascii();
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
  while (static_cast<unsigned char>(*at_) >= 0x80) ++at_;
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
  add(Json::Kind::kNumber, begin, at_);
  return true;
}

// At least one.
bool JsonScanner::skip_digits() {
  const char* begin = at_;
  while (is_digit(*at_)) ++at_;
  return at_ != begin;
}

bool JsonScanner::scan_literal(std::string_view literal, Json::Kind kind) {
  const char* begin = at_;
  for (const char c : literal) {
    if (!skip(c)) return fail();
  }
  add(kind, begin, at_);
  return true;
}

bool JsonScanner::open(Json::Kind kind) {
  if (depth_ >= limits_.depth_max) {
    error_.message = "nested deeper than " + std::to_string(limits_.depth_max);
    return false;
  }
  ++depth_;
  add(kind, at_, at_);
  ++at_;
  return true;
}

void JsonScanner::close(std::size_t container, std::uint32_t size) {
  --depth_;
  tokens_[container].size = size;
  end_span(container);
}

void JsonScanner::end_span(std::size_t token) {
  tokens_[token].span = static_cast<std::uint32_t>(tokens_.size() - token);
}

void JsonScanner::add(Json::Kind kind, const char* begin, const char* end, bool had_escapes) {
  tokens_.push_back({begin, static_cast<std::uint32_t>(end - begin), 1, kind, had_escapes});
}

void JsonScanner::skip_more_blanks() {
  while (true) {
    if (*at_ == ' ') at_ = skip_spaces(at_);
    if (*at_ != '\n' && *at_ != '\r' && *at_ != '\t') return;
    ++at_;
  }
}

bool JsonScanner::fail(std::string_view what, const char* where) {
  error_.message = std::string{what} + " at byte " + std::to_string(where - begin_ + 1);
  return false;
}

}  // namespace hookgate
