#pragma once

#include <map>
#include <string>

#include "cli/replay.h"
#include "config.h"

namespace hookgate {

std::map<std::string, ReplaySource, std::less<>> replay_sources(const Config& config);

// Of the configuration file that applies (see config_path), or, when there is none, those of the
// configuration that `hookgate dev` writes. Throws ConfigError.
std::map<std::string, ReplaySource, std::less<>> replay_sources(const std::string& config);

}  // namespace hookgate
