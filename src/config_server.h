#pragma once

#include <string>
#include <vector>

#include "config.h"
#include "config_document.h"
#include "config_file.h"
#include "config_reader.h"

namespace hookgate {

// The [server] section, checked: what its listener cannot do is refused. Appends to `warnings`.
ServerConfig read_server(const ConfigFile& file, const ConfigBlock& block,
                         std::vector<std::string>& warnings);

// `listen` of a section: host:port, or `otherwise` when it is left out.
std::string read_listen_address(const ConfigBlock& block, const std::string& otherwise);

}  // namespace hookgate
