#pragma once

#include <string>
#include <vector>

#include "config_reader.h"
#include "handlers/sql/sql_handler.h"

namespace hookgate {

// Reads 'params', 'required', 'statement' and 'answer' of a [[handler]] of the kind "sql". What is
// likely a mistake but can run is added to `warnings`. Throws ConfigError.
SqlHandlerSettings read_sql_handler(const ConfigFile& file, const ConfigBlock& block,
                                    std::vector<std::string>& warnings);

}  // namespace hookgate
