#include "domain/json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "domain/json_scanner.h"
#include "domain/plain_text.h"
#include "domain/text.h"

namespace hookgate {
namespace {

const Json kNullValue{};
const std::vector<Json> kNoElements;
const std::vector<Json::Member> kNoMembers;

// The front of a name as a number that orders as the name does: the first byte is the heaviest.
std::uint64_t front_of(std::string_view name) {
  std::array<char, sizeof(std::uint64_t)> bytes{};
  if (name.size() >= bytes.size()) {
    std::memcpy(bytes.data(), name.data(), bytes.size());  // of a fixed size: one instruction
  } else {
    std::ranges::copy(name, bytes.begin());
  }
  const auto front = std::bit_cast<std::uint64_t>(bytes);
  return std::endian::native == std::endian::little ? __builtin_bswap64(front) : front;
}

// A member and the front of its name, where most comparisons of two names end.
struct MemberKey {
  std::uint64_t front;
  const Json::Member* member;

  explicit MemberKey(const Json::Member& of) : front(front_of(of.first)), member(&of) {}

  const std::string& name() const { return member->first; }
  bool has_name_of(const MemberKey& other) const {
    return front == other.front && name() == other.name();
  }
  // By name; members of one name stay in the order they were written.
  bool operator<(const MemberKey& other) const {
    if (front != other.front) return front < other.front;
    const auto order = name().compare(other.name());
    return order != 0 ? order < 0 : member < other.member;
  }
};

bool has_doubled_names(const std::vector<Json::Member>& members) {
  constexpr std::size_t kFewMembers = 16;
  if (members.size() <= kFewMembers) {  // to compare all pairs is cheaper than to sort
    for (auto member = members.begin(); member != members.end(); ++member) {
      const auto has_its_name = [&](const auto& other) { return other.first == member->first; };
      if (std::any_of(members.begin(), member, has_its_name)) return true;
    }
    return false;
  }
  std::vector<MemberKey> keys(members.begin(), members.end());
  std::sort(keys.begin(), keys.end());
  const auto doubled = std::adjacent_find(
      keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.has_name_of(b); });
  return doubled != keys.end();
}

// A growing text. std::string asks for room and ends the text anew at every character.
class TextSink {
 public:
  void put(char c) {
    make_room(1);
    text_[size_++] = c;
  }
  void put(std::string_view piece) {
    make_room(piece.size());
    piece.copy(&text_[size_], piece.size());
    size_ += piece.size();
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

  std::string text_ = std::string(256, '\0');  // what is behind size_ is room
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

class CanonicalWriter {
 public:
  std::string write(const Json& value, const std::vector<std::string_view>& left_out) {
    put(value, left_out);
    return out_.take();
  }

 private:
  void put(const Json& value, const std::vector<std::string_view>& left_out = {}) {
    switch (value.kind()) {
      case Json::Kind::kNull: out_.put("null"); return;
      case Json::Kind::kBoolean: out_.put(*value.boolean() ? "true" : "false"); return;
      case Json::Kind::kNumber: out_.put(value.number_text()); return;
      case Json::Kind::kString: out_.put_quoted(*value.string()); return;
      case Json::Kind::kArray: put_array(value.elements()); return;
      case Json::Kind::kObject: put_object(value.members(), left_out); return;
    }
  }

  void put_array(const std::vector<Json>& elements) {
    out_.put('[');
    for (const auto& element : elements) {
      if (&element != &elements.front()) out_.put(',');
      put(element);
    }
    out_.put(']');
  }

  void put_object(const std::vector<Json::Member>& members,
                  const std::vector<std::string_view>& left_out) {
    const auto begin = keys_.size();
    for (const auto& member : members) keys_.emplace_back(member);
    const auto end = keys_.size();
    std::sort(keys_.data() + begin, keys_.data() + end);
    out_.put('{');
    bool first = true;
    for (auto i = begin; i < end; ++i) {
      const auto& [name, value] = *keys_[i].member;
      const bool overridden = i + 1 < end && keys_[i + 1].has_name_of(keys_[i]);
      if (overridden || std::ranges::find(left_out, name) != left_out.end()) continue;
      if (!first) out_.put(',');
      first = false;
      out_.put_quoted(name);
      out_.put(':');
      put(value);
    }
    out_.put('}');
    keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(begin), keys_.end());
  }

  TextSink out_;
  std::vector<MemberKey> keys_;  // of all open objects, the innermost last
};

}  // namespace

// Makes the tree of scanned tokens: every size is known, so nothing moves once it is placed.
class JsonBuilder {
 public:
  explicit JsonBuilder(const std::vector<JsonToken>& tokens) : next_(tokens.data()) {}

  JsonDocument build() {
    JsonDocument document;
    build(document.root);
    document.has_doubled_keys = has_doubled_keys_;
    return document;
  }

 private:
  void build(Json& value) {
    const auto& token = *next_++;
    switch (token.kind) {
      case Json::Kind::kNull: return;
      case Json::Kind::kBoolean: value.value_ = token.flag; return;
      case Json::Kind::kNumber:
        value.value_.emplace<Json::Number>(Json::Number{std::string{token.text()}});
        return;
      case Json::Kind::kString:
        decode_json_string(token, value.value_.emplace<std::string>());
        return;
      case Json::Kind::kArray: {
        auto& elements = value.value_.emplace<std::vector<Json>>(token.size);
        for (auto& element : elements) build(element);
        return;
      }
      case Json::Kind::kObject: {
        auto& members = value.value_.emplace<std::vector<Json::Member>>(token.size);
        for (auto& [name, member] : members) {
          decode_json_string(*next_++, name);
          build(member);
        }
        has_doubled_keys_ = has_doubled_keys_ || has_doubled_names(members);
        return;
      }
    }
  }

  const JsonToken* next_;
  bool has_doubled_keys_ = false;
};

std::optional<std::string_view> Json::string() const {
  const auto* text = std::get_if<std::string>(&value_);
  if (text == nullptr) return std::nullopt;
  return *text;
}

std::string_view Json::number_text() const {
  const auto* number = std::get_if<Number>(&value_);
  return number == nullptr ? std::string_view{} : number->literal;
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
  const auto* value = std::get_if<bool>(&value_);
  if (value == nullptr) return std::nullopt;
  return *value;
}

const std::vector<Json>& Json::elements() const {
  const auto* elements = std::get_if<std::vector<Json>>(&value_);
  return elements == nullptr ? kNoElements : *elements;
}

const std::vector<Json::Member>& Json::members() const {
  const auto* members = std::get_if<std::vector<Member>>(&value_);
  return members == nullptr ? kNoMembers : *members;
}

const Json& Json::operator[](std::string_view name) const {
  const auto& all = members();
  const auto found = std::find_if(all.rbegin(), all.rend(),
                                  [&](const Member& member) { return member.first == name; });
  return found == all.rend() ? kNullValue : found->second;
}

const Json& Json::at(std::initializer_list<std::string_view> path) const {
  const Json* value = this;
  for (const auto name : path) value = &(*value)[name];
  return *value;
}

std::variant<JsonDocument, JsonError> parse_json(std::string_view bytes, JsonLimits limits) {
  JsonScanner scanner{bytes, limits};
  if (!scanner.scan()) return scanner.error();
  return JsonBuilder{scanner.tokens()}.build();
}

std::string canonical_json(const Json& value,
                           const std::vector<std::string_view>& volatile_members) {
  return CanonicalWriter{}.write(value, volatile_members);
}

std::string quote_json(std::string_view text) {
  TextSink out;
  if (is_valid_utf8(text)) {
    out.put_quoted(text);
  } else {
    out.put_quoted(clean_text(text, text.size() * 3));
  }
  return out.take();
}

}  // namespace hookgate
