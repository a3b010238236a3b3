#pragma once

#include <chrono>
#include <filesystem>

#include "app.h"

namespace hookgate {

// Call before the first thread is started.
void block_signals();

// Waits: SIGHUP reads `file` again and takes over its secrets; SIGTERM and SIGINT stop the app,
// which must be done within `grace`. Returns the exit code.
int run_until_signal(App& app, const std::filesystem::path& file, std::chrono::milliseconds grace);

}  // namespace hookgate
