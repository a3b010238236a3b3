#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config_file.h"

namespace hookgate {

// A value of the file with its position. Ours, so that only one file includes the TOML library.
struct ConfigNode {
  enum class Kind { kText, kInteger, kFraction, kBoolean, kDate, kList, kTable };

  Kind kind = Kind::kTable;
  ConfigPosition at{};  // of the value; of a [table], its header
  std::string key{};    // of a member of a table
  ConfigPosition key_at{};
  std::string text{};
  std::int64_t integer = 0;
  double fraction = 0;
  bool boolean = false;
  std::vector<ConfigNode> elements{};  // of a list
  std::vector<ConfigNode> members{};   // of a table, in the order of the file

  // The member of that key, or nullptr.
  const ConfigNode* find(std::string_view name) const;
  // A list with at least one element, all of them tables, as [[name]] blocks make it.
  bool is_list_of_tables() const;
};

// "a string", "an integer", ...
std::string_view kind_name(ConfigNode::Kind kind);

// Parses TOML 1.0 into its root table. Throws ConfigError at a syntax error or a doubled key; the
// message never holds a value of the file, which may be a secret that lacks its quotes.
ConfigNode parse_document(std::string_view text, const ConfigFile& file);

}  // namespace hookgate
