#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hookgate {

struct JsonLimits {
  int depth_max = 64;
};

// A parsed JSON value. Numbers keep their literal text, so that no amount ever passes through a
// double.
class Json {
 public:
  enum class Kind { kNull, kBoolean, kNumber, kString, kArray, kObject };
  using Member = std::pair<std::string, Json>;

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_number() const { return kind() == Kind::kNumber; }
  bool is_object() const { return kind() == Kind::kObject; }
  bool is_array() const { return kind() == Kind::kArray; }

  // The text of a string, decoded; nothing for any other kind.
  std::optional<std::string_view> string() const;
  // An integer that fits 64 bits signed, written without fraction or exponent; else nothing.
  std::optional<std::int64_t> integer() const;
  std::optional<bool> boolean() const;
  // The literal of a number as written.
  std::string_view number_text() const;

  const std::vector<Json>& elements() const;   // of an array; else empty
  const std::vector<Member>& members() const;  // of an object, in order; else empty

  // The member of that name (the last one, if doubled), or a null value: lookups can be chained.
  const Json& operator[](std::string_view name) const;
  // operator[] over a path of names: at({"data", "object", "id"}).
  const Json& at(std::initializer_list<std::string_view> path) const;

 private:
  friend class JsonBuilder;
  struct Number {
    std::string literal;
  };
  // In the order of Kind.
  std::variant<std::monostate, bool, Number, std::string, std::vector<Json>, std::vector<Member>>
      value_;
};

struct JsonDocument {
  Json root;
  bool has_doubled_keys = false;  // somewhere two members of one object share a name
};

struct JsonError {
  std::string message;  // "syntax error at byte 17", "nested deeper than 64"
};

// Parses strictly by RFC 8259; a leading byte order mark is skipped. Refused: NUL bytes, invalid
// UTF-8, lone surrogates, nesting over the limit, anything after the value. Never throws for bad
// input.
std::variant<JsonDocument, JsonError> parse_json(std::string_view bytes, JsonLimits limits = {});

// One text for all spellings of a value: members sorted by name (the last of a doubled name), no
// white space, numbers by their literal, strings with the least escaping. `volatile_members` are
// names left out of the outermost object.
std::string canonical_json(const Json& value,
                           const std::vector<std::string_view>& volatile_members = {});

// `text` as a JSON string, quotes included. Invalid UTF-8 becomes U+FFFD.
std::string quote_json(std::string_view text);

}  // namespace hookgate
