#include "config_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>
#include <variant>

#include "config_values.h"

namespace hookgate {

namespace {

constexpr std::string_view kEnvironmentPrefix = "env:";
constexpr std::string_view kFilePrefix = "file:";
constexpr std::size_t kReferencedBytesMax = std::size_t{64} << 10;
constexpr std::size_t kPathContentBytesMax = std::size_t{1} << 20;

using Kind = ConfigNode::Kind;

bool is_variable_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && std::ranges::all_of(name, is_allowed);
}

// As a user would write it: "0.5", "1000000".
std::string plain(double number) {
  constexpr int kDigits = 15;
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.begin(), text.end(), number, std::chars_format::general, kDigits);
  return error == std::errc{} ? std::string{text.begin(), end} : "";
}

// "; write "5s"", but never for a value that came from outside the file: it may be a secret.
std::string write_instead(const ConfigText& text, const std::optional<std::string>& suggestion) {
  if (!suggestion || text.is_reference) return "";
  return "; write " + in_quotes(*suggestion);
}

}  // namespace

ConfigBlock::ConfigBlock(const ConfigFile& file, const ConfigNode& table, std::string title)
    : file_(file), table_(table), title_(std::move(title)) {}

std::optional<ConfigText> ConfigBlock::text(std::string_view key) const {
  const auto* const node = find(key);
  if (node == nullptr) return std::nullopt;
  return text_of(key, *node);
}

ConfigText ConfigBlock::required_text(std::string_view key, std::string_view hint) const {
  auto found = text(key);
  if (!found) fail_missing(key, hint);
  return *std::move(found);
}

std::optional<std::vector<ConfigText>> ConfigBlock::texts(std::string_view key,
                                                          std::size_t count_max) const {
  const auto* const node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != Kind::kList)
    fail_kind(key, *node, "a list of strings",
              node->kind == Kind::kText ? "; put it between [ and ]" : "");
  if (node->elements.size() > count_max)
    fail(key, node->at,
         "has " + std::to_string(node->elements.size()) + " elements; at most " +
             std::to_string(count_max) + " are allowed");
  std::vector<ConfigText> found;
  found.reserve(node->elements.size());
  for (const auto& element : node->elements) {
    if (element.kind != Kind::kText)
      fail(key, element.at,
           "must be a list of strings, found " + std::string{kind_name(element.kind)} + " in it");
    found.push_back(text_of(key, element));
  }
  return found;
}

std::optional<ConfigText> ConfigBlock::readable_path(std::string_view key) const {
  const auto* const node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Kind::kText && node->text.starts_with(kFilePrefix)) {
    fail(key, node->at,
         "is the path itself, not the content of a file; write " +
             in_quotes(std::string_view{node->text}.substr(kFilePrefix.size())));
  }
  auto path = text_of(key, *node);
  auto resolved = file_.resolve(path.value).string();
  const auto content = read_named_file(resolved, kPathContentBytesMax);
  if (const auto* const unreadable = std::get_if<FileUnreadable>(&content))
    fail(key, path.at,
         "names the file " + path.shown + ", which cannot be read: " + unreadable->reason);
  path.value = std::move(resolved);
  return path;
}

std::optional<bool> ConfigBlock::boolean(std::string_view key) const {
  const auto* const node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Kind::kBoolean) return node->boolean;
  const bool is_quoted =
      node->kind == Kind::kText && (node->text == "true" || node->text == "false");
  fail_kind(key, *node, "true or false", is_quoted ? "; leave out the quotes" : "");
}

std::int64_t ConfigBlock::integer(std::string_view key, std::int64_t otherwise,
                                  IntegerRange range) const {
  const auto* const node = find(key);
  if (node == nullptr) return otherwise;
  if (node->kind != Kind::kInteger) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool is_quoted = node->kind == Kind::kText && !node->text.empty() &&
                           std::ranges::all_of(node->text, is_digit);
    fail_kind(key, *node, "an integer", is_quoted ? "; leave out the quotes" : "");
  }
  if (node->integer < range.least || node->integer > range.most)
    fail(key, node->at,
         "must be from " + std::to_string(range.least) + " to " + std::to_string(range.most) +
             ", found " + std::to_string(node->integer));
  return node->integer;
}

double ConfigBlock::number(std::string_view key, double otherwise, NumberRange range) const {
  const auto* const node = find(key);
  if (node == nullptr) return otherwise;
  if (node->kind != Kind::kInteger && node->kind != Kind::kFraction)
    fail_kind(key, *node, "a number", node->kind == Kind::kText ? "; leave out the quotes" : "");
  const double number =
      node->kind == Kind::kInteger ? static_cast<double>(node->integer) : node->fraction;
  // Asked so that NaN, which is neither below nor above, is outside too.
  if (!(number >= range.least && number <= range.most))
    fail(key, node->at,
         "must be from " + plain(range.least) + " to " + plain(range.most) + ", found " +
             plain(number));
  return number;
}

std::int64_t ConfigBlock::size(std::string_view key, std::int64_t otherwise,
                               IntegerRange range) const {
  constexpr std::string_view kExpected = R"(a size such as "256KiB")";
  const auto* const node = find(key);
  if (node == nullptr) return otherwise;
  if (node->kind != Kind::kText) {
    const bool is_number = node->kind == Kind::kInteger && node->integer > 0;
    fail_kind(key, *node, kExpected,
              is_number ? "; write " + in_quotes(format_size(node->integer)) : "");
  }
  const auto text = text_of(key, *node);
  const auto bytes = parse_size(text.value);
  if (!bytes)
    fail(key, text.at,
         "must be " + std::string{kExpected} + ", found " + text.shown +
             write_instead(text, suggest_size(text.value)));
  if (*bytes < range.least || *bytes > range.most)
    fail(key, text.at,
         "must be from " + format_size(range.least) + " to " + format_size(range.most) +
             ", found " + text.shown);
  return *bytes;
}

std::optional<std::chrono::milliseconds> ConfigBlock::duration(std::string_view key,
                                                               DurationRange range) const {
  constexpr std::string_view kExpected = R"(a duration such as "90s")";
  const auto* const node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != Kind::kText) {
    const bool is_number = node->kind == Kind::kInteger && node->integer > 0;
    fail_kind(key, *node, kExpected,
              is_number ? "; write " + in_quotes(std::to_string(node->integer) + "s") : "");
  }
  const auto text = text_of(key, *node);
  const auto parsed = parse_duration(text.value);
  if (!parsed)
    fail(key, text.at,
         "must be " + std::string{kExpected} + ", found " + text.shown +
             write_instead(text, suggest_duration(text.value)));
  if (*parsed < range.least || *parsed > range.most)
    fail(key, text.at,
         "must be from " + format_duration(range.least) + " to " + format_duration(range.most) +
             ", found " + text.shown);
  if (parsed->count() % range.least.count() != 0)
    fail(key, text.at,
         "must be a multiple of " + format_duration(range.least) + ", found " + text.shown);
  return parsed;
}

std::optional<ConfigBlock> ConfigBlock::table(std::string_view key) const {
  const auto* const node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != Kind::kTable) fail_kind(key, *node, "a table", "");
  return ConfigBlock{file_, *node, std::string{key} + " of " + title_};
}

void ConfigBlock::fail(std::string_view key, ConfigPosition at, std::string_view text) const {
  file_.fail(at, in_quotes(key, '\'') + " in " + title_ + " " + std::string{text});
}

void ConfigBlock::fail_missing(std::string_view key, std::string_view hint) const {
  file_.fail(at(), title_ + " has no " + in_quotes(key, '\'') + std::string{hint});
}

ConfigText ConfigBlock::text_of(std::string_view key, const ConfigNode& node) const {
  if (node.kind != Kind::kText) fail_kind(key, node, "a string", "");
  const bool is_reference =
      node.text.starts_with(kEnvironmentPrefix) || node.text.starts_with(kFilePrefix);
  ConfigText found{
      .value = is_reference ? referenced(key, node) : node.text,
      .at = node.at,
      .shown = is_reference ? "the value of " + in_quotes(node.text) : in_quotes(node.text),
      .is_reference = is_reference};
  // The database and the C library would silently cut at a NUL.
  if (found.value.find('\0') != std::string::npos)
    fail(key, node.at, "must not hold a NUL character");
  if (is_blank(found.value)) fail(key, node.at, "must not be empty");
  return found;
}

std::string ConfigBlock::referenced(std::string_view key, const ConfigNode& node) const {
  if (node.text.starts_with(kEnvironmentPrefix))
    return environment(key, node.at, node.text.substr(kEnvironmentPrefix.size()));
  return content_of(key, node.at, node.text.substr(kFilePrefix.size()));
}

std::string ConfigBlock::environment(std::string_view key, ConfigPosition at,
                                     const std::string& name) const {
  if (!is_variable_name(name))
    fail(key, at, "must be env: and a variable's name of letters, digits and _");
  // Nothing in this process ever sets a variable, so that reading one is safe from any thread.
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr)
    fail(key, at, "needs the environment variable " + name + ", which is not set");
  if (is_blank(value)) fail(key, at, "needs the environment variable " + name + ", which is empty");
  return value;
}

std::string ConfigBlock::content_of(std::string_view key, ConfigPosition at,
                                    const std::string& path) const {
  if (path.empty() || path.find('\0') != std::string::npos)
    fail(key, at, "must be file: and a path");
  auto content = read_named_file(file_.resolve(path), kReferencedBytesMax);
  if (const auto* const unreadable = std::get_if<FileUnreadable>(&content))
    fail(key, at,
         "needs the file " + in_quotes(path) + ", which cannot be read: " + unreadable->reason);
  auto& text = std::get<std::string>(content);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (is_blank(text)) fail(key, at, "needs the file " + in_quotes(path) + ", which is empty");
  return std::move(text);
}

void ConfigBlock::fail_kind(std::string_view key, const ConfigNode& node, std::string_view expected,
                            std::string_view hint) const {
  fail(key, node.at,
       "must be " + std::string{expected} + ", found " + std::string{kind_name(node.kind)} +
           std::string{hint});
}

}  // namespace hookgate
