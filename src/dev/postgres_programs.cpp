#include "dev/postgres_programs.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace hookgate {
namespace {

namespace fs = std::filesystem;

bool has_programs(const fs::path& folder) {
  return access((folder / "postgres").c_str(), X_OK) == 0 &&
         access((folder / "initdb").c_str(), X_OK) == 0;
}

// "15" (Debian's folders) and "pgsql-15" (Red Hat's) give 15; 0 for any other name.
int major_in(std::string_view name) {
  if (name.starts_with("pgsql-")) name.remove_prefix(std::string_view{"pgsql-"}.size());
  int major = 0;
  const auto* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, major);
  return parsed.ec == std::errc{} && parsed.ptr == end ? major : 0;
}

std::vector<std::pair<int, fs::path>> versioned_folders() {
  std::vector<std::pair<int, fs::path>> found;
  for (const char* const parent : {"/usr/lib/postgresql", "/usr"}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator{parent, ignored}) {
      const int major = major_in(entry.path().filename().string());
      const auto folder = entry.path() / "bin";
      if (major > 0 && has_programs(folder)) found.emplace_back(major, folder);
    }
  }
  std::sort(found.begin(), found.end(), std::greater<>{});
  return found;
}

// PATH often has links to a versioned folder's programs, so those are followed.
std::optional<fs::path> folder_in_path(int major) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto folder = rest.substr(0, rest.find(':'));
    std::error_code missing;
    const auto program = fs::canonical(fs::path{folder} / "postgres", missing);
    const int version = major_in(program.parent_path().parent_path().filename().string());
    const bool fits = major == 0 || version == 0 || version == major;
    if (!missing && fits && has_programs(program.parent_path())) return program.parent_path();
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
  }
  return std::nullopt;
}

}  // namespace

std::optional<fs::path> find_postgres_programs(int major) {
  for (const auto& [version, folder] : versioned_folders()) {
    if (major == 0 || version == major) return folder;
  }
  return folder_in_path(major);
}

}  // namespace hookgate
