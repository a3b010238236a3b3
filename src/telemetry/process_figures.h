#pragma once

#include <optional>

namespace hookgate {

// What the system says of this process.
struct ProcessFigures {
  double cpu_seconds = 0;         // user and system, so far
  double start_time_seconds = 0;  // Unix time
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double open_fds = 0;
  double max_fds = 0;  // +Inf: no limit
};

// Reads /proc/self; nothing where there is no /proc.
std::optional<ProcessFigures> read_process_figures();

}  // namespace hookgate
