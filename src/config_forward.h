#pragma once

#include "config_reader.h"
#include "handlers/registry.h"

namespace hookgate {

// Reads the keys of a [[handler]] that are for the kind "forward" into `settings`, whose kind is
// known: checked to the end for that kind, refused for any other. Throws ConfigError.
void read_forward_keys(const ConfigBlock& block, HandlerSettings& settings);

}  // namespace hookgate
