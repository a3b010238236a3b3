#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
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
  std::uint32_t bytes_max = std::numeric_limits<std::uint32_t>::max();
};

struct JsonStorage;
struct JsonToken;
template <typename Item>
class JsonRange;

// A value in a JsonDocument, which must outlive it: as cheap to copy as a pointer. Numbers keep
// their literal text, so that no amount ever passes through a double. Texts are views into the
// document.
class Json {
 public:
  enum class Kind : std::uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };
  using Member = std::pair<std::string_view, Json>;

  Json();  // null, of no document
  explicit Json(const JsonToken& token) : token_(&token) {}

  Kind kind() const;
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

  JsonRange<Json> elements() const;   // of an array; else empty
  JsonRange<Member> members() const;  // of an object, in order; else empty

  // The member of that name (the last one, if doubled), or a null value: lookups can be chained.
  Json operator[](std::string_view name) const;
  // operator[] over a path of names: at({"data", "object", "id"}).
  Json at(std::initializer_list<std::string_view> path) const;

 private:
  friend std::string canonical_json(const Json& value,
                                    const std::vector<std::string_view>& volatile_members);
  const JsonToken* token_;
};

// Elements or members in their order. An item is made when it is asked for and lives on its own.
template <typename Item>
class JsonRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Item;

    explicit Iterator(const JsonToken* token) : token_(token) {}
    Item operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return token_ == other.token_; }

   private:
    const JsonToken* token_;
  };

  JsonRange() = default;
  explicit JsonRange(const JsonToken& container);

  Iterator begin() const { return Iterator{begin_}; }
  Iterator end() const { return Iterator{end_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Item front() const { return *begin(); }  // there must be one
  // Counted from the front, which takes as many steps; null behind the last.
  Item operator[](std::size_t index) const;

 private:
  const JsonToken* begin_ = nullptr;
  const JsonToken* end_ = nullptr;
  std::size_t size_ = 0;
};

// A copy shares what its original owns. A moved document leaves every value valid.
struct JsonDocument {
  Json root;
  std::shared_ptr<const JsonStorage> storage;  // what root and all values below it point into

  // Whether somewhere two members of one object share a name. Looked for anew by every call.
  bool has_doubled_keys() const;
};

struct JsonError {
  std::string message;  // "syntax error at byte 17", "nested deeper than 64"
};

// Parses strictly by RFC 8259; a leading byte order mark is skipped. Refused: NUL bytes, invalid
// UTF-8, lone surrogates, what is over a limit, anything after the value. Never throws for bad
// input. The document keeps a copy of the bytes.
std::variant<JsonDocument, JsonError> parse_json(std::string_view bytes, JsonLimits limits = {});

// One text for all spellings of a value: members sorted by name (the last of a doubled name), no
// white space, numbers by their literal, strings with the least escaping. `volatile_members` are
// names left out of the outermost object.
std::string canonical_json(const Json& value,
                           const std::vector<std::string_view>& volatile_members = {});

// `text` as a JSON string, quotes included. Invalid UTF-8 becomes U+FFFD.
std::string quote_json(std::string_view text);

}  // namespace hookgate
