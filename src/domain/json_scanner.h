#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "domain/json.h"

namespace hookgate {

// One value, or the name of a member, as it stands in the input, which must outlive it. An array is
// followed by its elements, an object by name and value of each member in turn.
struct JsonToken {
  const char* begin = nullptr;  // of what is between the quotes, or of a literal
  std::size_t size = 0;         // bytes of a string or a number; elements; members
  Json::Kind kind = Json::Kind::kNull;
  bool flag = false;  // the value of a boolean; whether a string has escapes

  std::string_view text() const { return {begin, size}; }
};

// Reads a text strictly by RFC 8259 into a flat list of tokens, without a copy of anything. What
// parse_json refuses is refused here.
class JsonScanner {
 public:
  JsonScanner(std::string_view bytes, JsonLimits limits);

  bool scan();  // false: see error()
  const JsonError& error() const { return error_; }
  const std::vector<JsonToken>& tokens() const { return tokens_; }

 private:
  bool scan_value();
  bool scan_array();
  bool scan_object();
  bool scan_name();
  bool scan_string();
  bool skip_escape();
  bool skip_non_ascii();
  bool scan_number();
  bool skip_digits();
  bool scan_literal(std::string_view literal, Json::Kind kind, bool flag);

  bool open(Json::Kind kind);
  void add(Json::Kind kind, const char* begin, bool flag = false);
  void skip_blanks();
  bool skip(char expected);
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  bool fail(std::string_view what, const char* where);
  bool fail() { return fail("syntax error", at_); }

  const char* begin_;
  const char* end_;
  const char* at_;
  int depth_ = 0;
  JsonLimits limits_;
  std::vector<JsonToken> tokens_;
  JsonError error_;
};

// The text of a scanned string, its escapes decoded.
void decode_json_string(const JsonToken& token, std::string& out);

}  // namespace hookgate
