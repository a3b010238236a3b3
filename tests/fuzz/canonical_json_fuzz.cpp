#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include "domain/json.h"
#include "domain/text.h"
#include "fuzz_target.h"

// Any text as JSON: our parser against another one, and the canonical form against itself.

namespace hookgate {
namespace {

constexpr int kDepthMax = JsonLimits{}.depth_max;

// Takes everything and counts how deep it nests.
class DepthCounter : public nlohmann::json_sax<nlohmann::json> {
 public:
  int depth_max() const { return depth_max_; }
  // Stopped at a number that no double holds. It is JSON all the same, and ours is kept as text.
  bool met_huge_number() const { return met_huge_number_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool key(string_t&) override { return true; }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    constexpr int kOutOfRange = 406;
    met_huge_number_ = error.id == kOutOfRange;
    return false;
  }

 private:
  bool enter() {
    depth_max_ = std::max(depth_max_, ++depth_);
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  int depth_max_ = 0;
  bool met_huge_number_ = false;
};

bool is_same(const Json& ours, const nlohmann::json& other);

bool is_same_object(const Json& ours, const nlohmann::json& other) {
  for (const auto& [name, value] : other.items()) {
    if (!is_same(ours[name], value)) return false;
  }
  // With doubled names ours has more.
  return other.is_object() && ours.members().size() >= other.size();
}

bool is_same_array(const Json& ours, const nlohmann::json& other) {
  const auto elements = ours.elements();
  return other.is_array() &&
         std::equal(elements.begin(), elements.end(), other.begin(), other.end(), is_same);
}

bool is_same(const Json& ours, const nlohmann::json& other) {
  switch (ours.kind()) {
    case Json::Kind::kNull: return other.is_null();
    case Json::Kind::kBoolean: return other.is_boolean() && other.get<bool>() == ours.boolean();
    case Json::Kind::kString:
      return other.is_string() && other.get_ref<const std::string&>() == ours.string();
    case Json::Kind::kNumber:
      return other.is_number() && nlohmann::json::parse(ours.number_text()) == other;
    case Json::Kind::kArray: return is_same_array(ours, other);
    case Json::Kind::kObject: return is_same_object(ours, other);
  }
  return false;
}

void check_canonical(const Json& value) {
  const auto canonical = canonical_json(value);
  const auto again = parse_json(canonical);
  const auto* document = std::get_if<JsonDocument>(&again);
  require(document != nullptr, "the canonical form is JSON");
  require(!document->has_doubled_keys(), "the canonical form names nothing twice");
  require(canonical_json(document->root) == canonical, "the canonical form is its own");
}

void check_quoting(std::string_view bytes) {
  const auto parsed = parse_json(quote_json(bytes));
  const auto* document = std::get_if<JsonDocument>(&parsed);
  require(document != nullptr && document->root.is_string(), "a quoted text is a JSON string");
  require(!is_valid_utf8(bytes) || document->root.string() == bytes, "quoting keeps the text");
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  check_quoting(bytes);
  const auto parsed = parse_json(bytes);
  const auto* document = std::get_if<JsonDocument>(&parsed);
  DepthCounter counter;
  // The other parser takes a NUL for the end of the text.
  const bool is_json =
      bytes.find('\0') == std::string_view::npos && nlohmann::json::sax_parse(bytes, &counter);
  const bool is_ours = is_json && counter.depth_max() <= kDepthMax;
  if (!counter.met_huge_number()) {
    require((document != nullptr) == is_ours, "both parsers accept the same, down to our depth");
  }
  if (document == nullptr) return;
  require(is_valid_utf8(bytes), "what is accepted is UTF-8");
  check_canonical(document->root);
  if (is_ours)
    require(is_same(document->root, nlohmann::json::parse(bytes)), "both parsers read the same");
}

}  // namespace hookgate
