#pragma once

#include <filesystem>
#include <optional>

namespace hookgate {

// The folder with `postgres` and `initdb`: of that major version, or the newest for 0. Looks where
// distributions put their versioned folders, then in PATH, where programs outside such a folder are
// taken to fit any version. Nothing when there is none.
std::optional<std::filesystem::path> find_postgres_programs(int major);

}  // namespace hookgate
