#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config_document.h"
#include "config_file.h"

namespace hookgate {

// A string of the file after "env:NAME" and "file:PATH" were replaced.
struct ConfigText {
  std::string value;
  ConfigPosition at{};
  // How messages name it: the text in quotes, or `the value of "env:NAME"`. Not for secrets that
  // are written in the file.
  std::string shown;
  bool is_reference = false;
};

struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

struct NumberRange {
  double least = 0;
  double most = 0;
};

struct DurationRange {
  std::chrono::milliseconds least;  // also its grain: only multiples of it are taken
  std::chrono::milliseconds most;
};

// Typed access to one table of the file. Every method throws ConfigError, with the position and the
// key, when the value is there but is not what is asked for; what is left out gives nothing, or the
// default. Refers to the file and the table, which must outlive it.
class ConfigBlock {
 public:
  // `title` is what messages call the table: "[server]".
  ConfigBlock(const ConfigFile& file, const ConfigNode& table, std::string title);

  const ConfigNode* find(std::string_view key) const { return table_.find(key); }
  ConfigPosition at() const { return table_.at; }

  // Not blank, after replacement.
  std::optional<ConfigText> text(std::string_view key) const;
  // As `text`; the error for a missing key ends with `hint`.
  ConfigText required_text(std::string_view key, std::string_view hint = "") const;
  // At most `count_max` texts, each as `text`. An empty list is given as such.
  std::optional<std::vector<ConfigText>> texts(std::string_view key, std::size_t count_max) const;
  // The path of a file that can be read, of at most 1 MiB, resolved against the configuration
  // file's folder. "env:NAME" may stand for it, "file:PATH" not: the path is what is asked for.
  std::optional<ConfigText> readable_path(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise, IntegerRange range) const;
  // An integer or a fraction, but neither infinite nor NaN.
  double number(std::string_view key, double otherwise, NumberRange range) const;
  std::int64_t size(std::string_view key, std::int64_t otherwise, IntegerRange range) const;
  std::optional<std::chrono::milliseconds> duration(std::string_view key,
                                                    DurationRange range) const;
  std::optional<ConfigBlock> table(std::string_view key) const;

  // Throws "'key' in [title] <text>".
  [[noreturn]] void fail(std::string_view key, ConfigPosition at, std::string_view text) const;
  // Throws "[title] has no 'key'<hint>" at the block's header.
  [[noreturn]] void fail_missing(std::string_view key, std::string_view hint = "") const;

 private:
  ConfigText text_of(std::string_view key, const ConfigNode& node) const;
  std::string referenced(std::string_view key, const ConfigNode& node) const;
  std::string environment(std::string_view key, ConfigPosition at, const std::string& name) const;
  std::string content_of(std::string_view key, ConfigPosition at, const std::string& path) const;
  [[noreturn]] void fail_kind(std::string_view key, const ConfigNode& node,
                              std::string_view expected, std::string_view hint) const;

  const ConfigFile& file_;
  const ConfigNode& table_;
  std::string title_;
};

}  // namespace hookgate
