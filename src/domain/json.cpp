#include "domain/json.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "domain/text.h"

namespace hookgate {

// Receives the parser's events and builds the tree. Depth is counted here because the parser has no
// limit of its own and later passes over the tree recurse.
class JsonBuilder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit JsonBuilder(JsonLimits limits) : limits_(limits) {}

  bool null() { return put({}) != nullptr; }
  bool boolean(bool value) {
    Json json;
    json.kind_ = Json::Kind::kBoolean;
    json.boolean_ = value;
    return put(std::move(json)) != nullptr;
  }
  // Only negative numbers arrive here, so a zero was written "-0".
  bool number_integer(number_integer_t value) {
    return number(value == 0 ? "-0" : std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) { return number(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& literal) { return number(literal); }
  bool string(string_t& value) {
    Json json;
    json.kind_ = Json::Kind::kString;
    json.text_ = std::move(value);
    return put(std::move(json)) != nullptr;
  }
  bool binary(binary_t&) { return false; }

  bool start_object(std::size_t) { return open(Json::Kind::kObject); }
  bool start_array(std::size_t) { return open(Json::Kind::kArray); }
  bool key(string_t& name) {
    auto& members = open_.back()->members_;
    members.emplace_back(std::move(name), Json{});
    return true;
  }
  bool end_object() {
    has_doubled_keys_ = has_doubled_keys_ || has_doubled(open_.back()->members_);
    open_.pop_back();
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    error_ = "syntax error at byte " + std::to_string(position);
    return false;
  }

  std::variant<JsonDocument, JsonError> result(bool parsed) {
    if (!parsed) return JsonError{error_.empty() ? "not JSON" : error_};
    return JsonDocument{std::move(root_), has_doubled_keys_};
  }

 private:
  bool number(std::string literal) {
    Json json;
    json.kind_ = Json::Kind::kNumber;
    json.text_ = std::move(literal);
    return put(std::move(json)) != nullptr;
  }

  bool open(Json::Kind kind) {
    if (static_cast<int>(open_.size()) >= limits_.depth_max) {
      error_ = "nested deeper than " + std::to_string(limits_.depth_max);
      return false;
    }
    Json json;
    json.kind_ = kind;
    open_.push_back(put(std::move(json)));
    return true;
  }

  // Where the value went. The pointer stays good while the value is open: its siblings are appended
  // only after it is closed.
  Json* put(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    auto& parent = *open_.back();
    if (parent.kind_ == Json::Kind::kArray) {
      parent.elements_.push_back(std::move(value));
      return &parent.elements_.back();
    }
    parent.members_.back().second = std::move(value);
    return &parent.members_.back().second;
  }

  static bool has_doubled(const std::vector<Json::Member>& members) {
    std::vector<std::string_view> names;
    names.reserve(members.size());
    for (const auto& [name, value] : members) names.push_back(name);
    std::ranges::sort(names);
    return std::ranges::adjacent_find(names) != names.end();
  }

  JsonLimits limits_;
  Json root_;
  std::vector<Json*> open_;
  bool has_doubled_keys_ = false;
  std::string error_;
};

namespace {

const Json kNullValue{};

void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_canonical(std::string& out, const Json& value,
                      const std::vector<std::string_view>& left_out) {
  switch (value.kind()) {
    case Json::Kind::kNull: out += "null"; return;
    case Json::Kind::kBoolean: out += *value.boolean() ? "true" : "false"; return;
    case Json::Kind::kNumber: out += value.number_text(); return;
    case Json::Kind::kString: append_quoted(out, *value.string()); return;
    case Json::Kind::kArray: {
      out += '[';
      for (const auto& element : value.elements()) {
        if (out.back() != '[') out += ',';
        append_canonical(out, element, {});
      }
      out += ']';
      return;
    }
    case Json::Kind::kObject: {
      std::vector<const Json::Member*> sorted;
      sorted.reserve(value.members().size());
      for (const auto& member : value.members()) sorted.push_back(&member);
      std::ranges::stable_sort(
          sorted, {}, [](const auto* member) -> const std::string& { return member->first; });
      out += '{';
      bool first = true;
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto& [name, member] = *sorted[i];
        const bool overridden = i + 1 < sorted.size() && sorted[i + 1]->first == name;
        if (overridden || std::ranges::find(left_out, name) != left_out.end()) continue;
        if (!first) out += ',';
        first = false;
        append_quoted(out, name);
        out += ':';
        append_canonical(out, member, {});
      }
      out += '}';
      return;
    }
  }
}

}  // namespace

std::optional<std::string_view> Json::string() const {
  if (kind_ != Kind::kString) return std::nullopt;
  return text_;
}

std::optional<std::int64_t> Json::integer() const {
  if (kind_ != Kind::kNumber) return std::nullopt;
  std::int64_t value = 0;
  const auto* end = text_.data() + text_.size();
  const auto [stopped, error] = std::from_chars(text_.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

std::optional<bool> Json::boolean() const {
  if (kind_ != Kind::kBoolean) return std::nullopt;
  return boolean_;
}

const Json& Json::operator[](std::string_view name) const {
  const auto found = std::find_if(members_.rbegin(), members_.rend(),
                                  [&](const Member& member) { return member.first == name; });
  return found == members_.rend() ? kNullValue : found->second;
}

const Json& Json::at(std::initializer_list<std::string_view> path) const {
  const Json* value = this;
  for (const auto name : path) value = &(*value)[name];
  return *value;
}

std::variant<JsonDocument, JsonError> parse_json(std::string_view bytes, JsonLimits limits) {
  // The parser takes a NUL for the end of the input and would not see what follows.
  if (const auto nul = bytes.find('\0'); nul != std::string_view::npos) {
    return JsonError{"NUL byte at byte " + std::to_string(nul)};
  }
  JsonBuilder builder{limits};
  const bool parsed = nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &builder);
  return builder.result(parsed);
}

std::string canonical_json(const Json& value,
                           const std::vector<std::string_view>& volatile_members) {
  std::string out;
  append_canonical(out, value, volatile_members);
  return out;
}

std::string quote_json(std::string_view text) {
  std::string out;
  if (is_valid_utf8(text)) {
    append_quoted(out, text);
  } else {
    append_quoted(out, clean_text(text, text.size() * 3));
  }
  return out;
}

}  // namespace hookgate
