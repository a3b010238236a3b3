#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "config.h"
#include "config_document.h"
#include "config_file.h"
#include "config_reader.h"

namespace hookgate {

// The names that one kind of block has used so far.
class BlockNames {
 public:
  // The block's `name`. Throws ConfigError when it is missing, malformed or taken.
  std::string take(const ConfigBlock& block);

 private:
  std::map<std::string, std::size_t, std::less<>> lines_;  // of the first block of each name
};

// One [[handler]] block, checked. Appends to `warnings` what is no error.
HandlerSettings read_handler(const ConfigFile& file, const ConfigNode& node, BlockNames& names,
                             std::vector<std::string>& warnings);

// One [[source]] block, checked to the end: its provider can be made, its handlers are among
// `handlers`. Appends to `warnings`.
SourceConfig read_source(const ConfigFile& file, const ConfigNode& node, BlockNames& names,
                         std::span<const HandlerSettings> handlers,
                         std::vector<std::string>& warnings);

}  // namespace hookgate
