#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/json.h"

namespace hookgate {

// One value, or the name of a member. An array is followed by its elements, an object by name and
// value of each member in turn.
struct JsonToken {
  const char* begin = nullptr;  // of a decoded text, of a literal, or where a bracket opens
  std::uint32_t size = 0;       // bytes of a text or a literal; elements; members
  std::uint32_t span = 1;       // tokens up to the next sibling: of a name, its value is among them
  Json::Kind kind = Json::Kind::kNull;
  bool had_escapes = false;  // a string, which is no longer between its quotes then

  std::string_view text() const { return {begin, size}; }
  const JsonToken* next() const { return this + span; }
};
static_assert(sizeof(JsonToken) <= 24);  // the smallest values take two bytes of a body

// Bytes behind a document's text that may be read, NULs all: who looks at several bytes at a time
// need not look for the end.
inline constexpr std::size_t kJsonPaddingBytes = 16;

struct JsonStorage {
  std::unique_ptr<char[]> text;
  std::vector<JsonToken> tokens;
};

// Reads a text strictly by RFC 8259 into a flat list of tokens, over a copy of it in which strings
// are decoded in place. What parse_json refuses is refused here.
class JsonScanner {
 public:
  explicit JsonScanner(JsonLimits limits) : limits_(limits) {}

  bool scan(std::string_view bytes);  // once; false: see error()
  const JsonError& error() const { return error_; }
  std::shared_ptr<const JsonStorage> take() { return std::move(storage_); }

 private:
  bool refuse_unread(std::string_view bytes);
  void copy(std::string_view bytes);
  bool scan_value();
  bool scan_array();
  bool scan_object();
  bool scan_member();
  bool scan_string();
  bool scan_special();
  bool skip_escape();
  bool skip_non_ascii();
  bool scan_number();
  bool skip_digits();
  bool scan_literal(std::string_view literal, Json::Kind kind);

  bool open(Json::Kind kind);
  void close(std::size_t container, std::uint32_t size);
  void end_span(std::size_t token);
  void add(Json::Kind kind, const char* begin, const char* end, bool had_escapes = false);
  void skip_blanks() {
    if (static_cast<unsigned char>(*at_) <= ' ') skip_more_blanks();
  }
  void skip_more_blanks();
  bool skip(char expected) {
    const bool is_there = *at_ == expected;
    at_ += is_there ? 1 : 0;
    return is_there;
  }
  bool fail(std::string_view what, const char* where);
  bool fail() { return fail("syntax error", at_); }

  JsonLimits limits_;
  std::shared_ptr<JsonStorage> storage_ = std::make_shared<JsonStorage>();
  std::vector<JsonToken>& tokens_ = storage_->tokens;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;  // a NUL, as nowhere before it
  char* at_ = nullptr;
  int depth_ = 0;
  JsonError error_;
};

}  // namespace hookgate
