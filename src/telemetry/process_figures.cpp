#include "telemetry/process_figures.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace hookgate {
namespace {

// The fields of /proc/self/stat from the third on; proc(5) counts from 1. The second is the
// program's name in parentheses and may hold blanks and parentheses itself.
constexpr std::size_t kFirstField = 3;
constexpr std::size_t kUserTicks = 14;
constexpr std::size_t kSystemTicks = 15;
constexpr std::size_t kStartTicks = 22;  // since boot
constexpr std::size_t kVirtualBytes = 23;
constexpr std::size_t kResidentPages = 24;

std::vector<double> stat_fields() {
  std::ifstream file{"/proc/self/stat"};
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream text{line.substr(name_end + 1)};
  std::vector<double> fields;
  for (std::string field; text >> field;) fields.push_back(std::strtod(field.c_str(), nullptr));
  return fields;
}

double boot_time_seconds() {
  std::ifstream file{"/proc/stat"};
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return std::strtod(line.c_str() + 6, nullptr);
  }
  return 0;
}

double open_fds() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator entry{"/proc/self/fd", error}, end;
       !error && entry != end; entry.increment(error)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // without the one that reads the folder
}

double max_fds() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<double>::infinity();
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

std::optional<ProcessFigures> read_process_figures() {
  const auto fields = stat_fields();
  if (fields.size() <= kResidentPages - kFirstField) return std::nullopt;
  const auto field = [&fields](std::size_t number) { return fields[number - kFirstField]; };
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  ProcessFigures figures;
  figures.cpu_seconds = (field(kUserTicks) + field(kSystemTicks)) / ticks_per_second;
  figures.start_time_seconds = boot_time_seconds() + field(kStartTicks) / ticks_per_second;
  figures.resident_bytes = field(kResidentPages) * static_cast<double>(sysconf(_SC_PAGESIZE));
  figures.virtual_bytes = field(kVirtualBytes);
  figures.open_fds = open_fds();
  figures.max_fds = max_fds();
  return figures;
}

}  // namespace hookgate
