#include "domain/json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "domain/json_scanner.h"
#include "domain/plain_text.h"
#include "domain/text.h"

namespace hookgate {
namespace {

constinit const JsonToken kNullToken{.begin = "null", .size = 4};

// The front of a name as a number that orders as the name does: the first byte is the heaviest.
std::uint64_t front_of(const JsonToken& name) {
  if (name.size == 0) return 0;
  std::uint64_t front = 0;
  static_assert(sizeof front <= kJsonPaddingBytes);
  std::memcpy(&front, name.begin, sizeof front);  // of a fixed size: one instruction
  if constexpr (std::endian::native == std::endian::little) front = __builtin_bswap64(front);
  if (name.size >= sizeof front) return front;
  const auto bits_behind = 8 * (sizeof front - name.size);
  return front >> bits_behind << bits_behind;
}

// A member's name and its front, where most comparisons of two names end.
struct MemberKey {
  std::uint64_t front;
  const JsonToken* name;

  explicit MemberKey(const JsonToken& of) : front(front_of(of)), name(&of) {}

  bool has_name_of(const MemberKey& other) const {
    return front == other.front && name->text() == other.name->text();
  }
  // By name; members of one name stay in the order they were written.
  bool operator<(const MemberKey& other) const {
    if (front != other.front) return front < other.front;
    const auto order = name->text().compare(other.name->text());
    return order != 0 ? order < 0 : name < other.name;
  }
};

// Sorts by insertion as long as that takes few moves; false: it does not, the order is any.
bool insert_in_order(MemberKey* begin, MemberKey* end) {
  constexpr std::ptrdiff_t kMovesPerKey = 8;
  auto moves_left = kMovesPerKey * (end - begin);
  for (auto* next = begin; next != end; ++next) {
    const auto key = *next;
    auto* place = next;
    for (; place != begin && key < place[-1]; --place) *place = place[-1];
    *place = key;
    moves_left -= next - place;
    if (moves_left < 0) return false;
  }
  return true;
}

// Senders mostly write names in an order close to this one.
void sort_by_name(MemberKey* begin, MemberKey* end) {
  if (!insert_in_order(begin, end)) std::sort(begin, end);
}

void append_keys(std::vector<MemberKey>& keys, const JsonToken& object) {
  const auto* end = object.next();
  for (const auto* name = &object + 1; name != end; name = name->next()) keys.emplace_back(*name);
}

// A growing text. std::string asks for room and ends the text anew at every character.
class TextSink {
 public:
  explicit TextSink(std::size_t bytes_expected) : text_(bytes_expected, '\0') {}

  void put(char c) {
    make_room(1);
    text_[size_++] = c;
  }
  void put(std::string_view piece) {
    make_room(piece.size());
    piece.copy(&text_[size_], piece.size());
    size_ += piece.size();
  }
  // Text of a document, with what is behind it: in blocks of one size, since it is mostly short.
  void put_padded(const char* from, std::size_t size) {
    make_room(size + kJsonPaddingBytes);
    char* to = &text_[size_];
    for (std::size_t done = 0; done < size; done += kJsonPaddingBytes) {
      std::memcpy(to + done, from + done, kJsonPaddingBytes);
    }
    size_ += size;
  }
  void put_quoted(std::string_view text);
  std::string take() {
    text_.resize(size_);
    return std::move(text_);
  }

 private:
  void put_escaped(char c);
  void make_room(std::size_t bytes) {
    if (text_.size() - size_ < bytes) text_.resize(2 * (size_ + bytes));
  }

  std::string text_;  // what is behind size_ is room
  std::size_t size_ = 0;
};

void TextSink::put_quoted(std::string_view text) {
  make_room(text.size() + 2);
  put('"');
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at != end; ++at) {
    const char* stop = skip_plain_text(at, end);
    put({at, static_cast<std::size_t>(stop - at)});
    at = stop;
    if (at == end) break;
    put_escaped(*at);
  }
  put('"');
}

void TextSink::put_escaped(char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20) {
    put("\\u00");
    put(kHex[byte >> 4U]);
    put(kHex[byte & 15U]);
    return;
  }
  if (byte < 0x80) put('\\');
  put(c);
}

// About the canonical text's size: what the value takes in its document.
std::size_t bytes_expected(const JsonToken& value) {
  constexpr std::size_t kBracketsAndPadding = 128;
  const auto& last = *(value.next() - 1);
  return static_cast<std::size_t>(last.begin - value.begin) + last.size + kBracketsAndPadding;
}

class CanonicalWriter {
 public:
  explicit CanonicalWriter(const JsonToken& value) : out_(bytes_expected(value)) {}

  std::string write(const JsonToken& value, const std::vector<std::string_view>& left_out) {
    put(value, left_out);
    return out_.take();
  }

 private:
  void put(const JsonToken& value, const std::vector<std::string_view>& left_out = {}) {
    switch (value.kind) {
      case Json::Kind::kNull: out_.put("null"); return;
      case Json::Kind::kBoolean: out_.put(value.text()); return;
      case Json::Kind::kNumber: out_.put_padded(value.begin, value.size); return;
      case Json::Kind::kString: put_string(value); return;
      case Json::Kind::kArray: put_array(value); return;
      case Json::Kind::kObject: put_object(value, left_out); return;
    }
  }

  void put_string(const JsonToken& string) {
    if (string.had_escapes) {
      out_.put_quoted(string.text());
    } else {
      out_.put_padded(string.begin - 1, string.size + std::size_t{2});  // with its quotes
    }
  }

  void put_array(const JsonToken& array) {
    out_.put('[');
    const auto* first = &array + 1;
    for (const auto* element = first; element != array.next(); element = element->next()) {
      if (element != first) out_.put(',');
      put(*element);
    }
    out_.put(']');
  }

  void put_object(const JsonToken& object, const std::vector<std::string_view>& left_out) {
    const auto begin = keys_.size();
    append_keys(keys_, object);
    const auto end = keys_.size();
    sort_by_name(keys_.data() + begin, keys_.data() + end);
    out_.put('{');
    bool first = true;
    for (auto i = begin; i < end; ++i) {
      const auto& name = *keys_[i].name;
      const bool overridden = i + 1 < end && keys_[i + 1].has_name_of(keys_[i]);
      if (overridden || std::ranges::find(left_out, name.text()) != left_out.end()) continue;
      if (!first) out_.put(',');
      first = false;
      put_string(name);
      out_.put(':');
      put(*(&name + 1));
    }
    out_.put('}');
    keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(begin), keys_.end());
  }

  TextSink out_;
  std::vector<MemberKey> keys_;  // of all open objects, the innermost last
};

void read_item(const JsonToken& token, Json& item) {
  item = Json{token};
}

void read_item(const JsonToken& name, Json::Member& item) {
  item = {name.text(), Json{*(&name + 1)}};
}

}  // namespace

Json::Json() : token_(&kNullToken) {}

Json::Kind Json::kind() const {
  return token_->kind;
}

std::optional<std::string_view> Json::string() const {
  if (!is_string()) return std::nullopt;
  return token_->text();
}

std::string_view Json::number_text() const {
  return is_number() ? token_->text() : std::string_view{};
}

std::optional<std::int64_t> Json::integer() const {
  if (!is_number()) return std::nullopt;
  const auto text = number_text();
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

std::optional<bool> Json::boolean() const {
  if (kind() != Kind::kBoolean) return std::nullopt;
  return *token_->begin == 't';
}

JsonRange<Json> Json::elements() const {
  return is_array() ? JsonRange<Json>{*token_} : JsonRange<Json>{};
}

JsonRange<Json::Member> Json::members() const {
  return is_object() ? JsonRange<Member>{*token_} : JsonRange<Member>{};
}

Json Json::operator[](std::string_view name) const {
  if (!is_object()) return {};
  const auto* value = &kNullToken;
  const auto* end = token_->next();
  for (const auto* member = token_ + 1; member != end; member = member->next()) {
    if (member->text() == name) value = member + 1;
  }
  return Json{*value};
}

Json Json::at(std::initializer_list<std::string_view> path) const {
  auto value = *this;
  for (const auto name : path) value = value[name];
  return value;
}

template <typename Item>
JsonRange<Item>::JsonRange(const JsonToken& container)
    : begin_(&container + 1), end_(container.next()), size_(container.size) {}

template <typename Item>
Item JsonRange<Item>::Iterator::operator*() const {
  Item item;
  read_item(*token_, item);
  return item;
}

template <typename Item>
typename JsonRange<Item>::Iterator& JsonRange<Item>::Iterator::operator++() {
  token_ = token_->next();
  return *this;
}

template <typename Item>
Item JsonRange<Item>::operator[](std::size_t index) const {
  if (index >= size_) return {};
  auto at = begin();
  for (; index > 0; --index) ++at;
  return *at;
}

template class JsonRange<Json>;
template class JsonRange<Json::Member>;

bool JsonDocument::has_doubled_keys() const {
  if (storage == nullptr) return false;
  std::vector<MemberKey> keys;  // of one object after the other
  return std::ranges::any_of(storage->tokens, [&](const JsonToken& token) {
    if (token.kind != Json::Kind::kObject) return false;
    keys.clear();
    append_keys(keys, token);
    sort_by_name(keys.data(), keys.data() + keys.size());
    const auto doubled = std::ranges::adjacent_find(keys, &MemberKey::has_name_of);
    return doubled != keys.end();
  });
}

std::variant<JsonDocument, JsonError> parse_json(std::string_view bytes, JsonLimits limits) {
  JsonScanner scanner{limits};
  if (!scanner.scan(bytes)) return scanner.error();
  auto storage = scanner.take();
  const Json root{storage->tokens.front()};
  return JsonDocument{root, std::move(storage)};
}

std::string canonical_json(const Json& value,
                           const std::vector<std::string_view>& volatile_members) {
  return CanonicalWriter{*value.token_}.write(*value.token_, volatile_members);
}

std::string quote_json(std::string_view text) {
  TextSink out{text.size() + 2};
  if (is_valid_utf8(text)) {
    out.put_quoted(text);
  } else {
    out.put_quoted(clean_text(text, text.size() * 3));
  }
  return out.take();
}

}  // namespace hookgate
