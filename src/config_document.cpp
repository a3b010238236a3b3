#include "config_document.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <toml++/toml.h>

namespace hookgate {

namespace {

ConfigPosition position_of(const toml::source_region& region) {
  return {.line = region.begin.line, .column = region.begin.column};
}

ConfigNode convert(const toml::node& node);

ConfigNode convert_table(const toml::table& table) {
  ConfigNode converted;
  converted.members.reserve(table.size());
  for (const auto& [key, value] : table) {
    auto& member = converted.members.emplace_back(convert(value));
    member.key = key.str();
    member.key_at = position_of(key.source());
  }
  // The library sorts by name; the first fault should be the first in the file.
  std::ranges::sort(converted.members, {}, [](const ConfigNode& member) {
    return std::tuple{member.key_at.line, member.key_at.column};
  });
  return converted;
}

ConfigNode convert_list(const toml::array& list) {
  ConfigNode converted{.kind = ConfigNode::Kind::kList};
  converted.elements.reserve(list.size());
  for (const auto& element : list) converted.elements.push_back(convert(element));
  return converted;
}

ConfigNode convert_value(const toml::node& node) {
  using Kind = ConfigNode::Kind;
  if (const auto* text = node.as_string()) return {.kind = Kind::kText, .text = text->get()};
  if (const auto* integer = node.as_integer())
    return {.kind = Kind::kInteger, .integer = integer->get()};
  if (const auto* boolean = node.as_boolean())
    return {.kind = Kind::kBoolean, .boolean = boolean->get()};
  if (const auto* fraction = node.as_floating_point())
    return {.kind = Kind::kFraction, .fraction = fraction->get()};
  return {.kind = Kind::kDate};
}

// Recursion ends because the parser limits nesting to 256.
ConfigNode convert(const toml::node& node) {
  ConfigNode converted;
  if (const auto* table = node.as_table())
    converted = convert_table(*table);
  else if (const auto* list = node.as_array())
    converted = convert_list(*list);
  else
    converted = convert_value(node);
  converted.at = position_of(node.source());
  return converted;
}

// The parser's sentence in our words. It quotes a number that it cannot read and the letters it
// stumbled over, which may be of a key.
std::string describe(std::string_view description) {
  constexpr std::string_view kOpening = "Error while parsing ";
  std::string text{description};
  if (description.starts_with(kOpening))
    text = "syntax error in " + text.substr(kOpening.size());
  else
    text = "syntax error: " + text;
  text.resize(std::min(text.find(", saw '"), text.size()));
  const auto is_about_number =
      text.ends_with("is not representable in 64 bits") || text.ends_with("as a value");
  const auto first_quote = text.find('\'');
  if (is_about_number && first_quote != std::string::npos)
    text.replace(first_quote, text.rfind('\'') - first_quote + 1, "the number");
  if (text.ends_with("could not determine value type")) text += "; a string needs quotes";
  // It quotes what it stumbled over, which may be anything; the message is one line.
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }, ' ');
  return text;
}

}  // namespace

const ConfigNode* ConfigNode::find(std::string_view name) const {
  const auto found = std::ranges::find(members, name, &ConfigNode::key);
  return found == members.end() ? nullptr : &*found;
}

bool ConfigNode::is_list_of_tables() const {
  const auto is_table = [](const ConfigNode& node) { return node.kind == Kind::kTable; };
  return kind == Kind::kList && !elements.empty() && std::ranges::all_of(elements, is_table);
}

std::string_view kind_name(ConfigNode::Kind kind) {
  switch (kind) {
    case ConfigNode::Kind::kText: return "a string";
    case ConfigNode::Kind::kInteger: return "an integer";
    case ConfigNode::Kind::kFraction: return "a fraction";
    case ConfigNode::Kind::kBoolean: return "a boolean";
    case ConfigNode::Kind::kDate: return "a date or time";
    case ConfigNode::Kind::kList: return "a list";
    case ConfigNode::Kind::kTable: return "a table";
  }
  return "";
}

ConfigNode parse_document(std::string_view text, const ConfigFile& file) {
  try {
    return convert(toml::parse(text));
  } catch (const toml::parse_error& error) {
    file.fail(position_of(error.source()), describe(error.description()));
  }
}

}  // namespace hookgate
