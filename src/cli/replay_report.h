#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace hookgate {

inline constexpr std::size_t kReplayErrorsMax = 10;

// What became of one request.
enum class ReplayOutcome { kAccepted, kDuplicate, kConflict, kRejected, kFailed };

struct ReplayCounts {
  std::uint64_t sent = 0;  // the sum of the others
  std::uint64_t accepted = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t conflict = 0;
  std::uint64_t rejected = 0;  // 4xx
  std::uint64_t failed = 0;    // any other status, or no answer
};

struct ReplayReport {
  // Counts the outcome under the source and in the total.
  void count(const std::string& source, ReplayOutcome outcome);

  std::map<std::string, ReplayCounts, std::less<>>
      sources;  // a path that names no source stands for itself
  ReplayCounts total;
  std::uint64_t not_connected = 0;  // of the failed: those for which no connection could be made
  std::vector<std::string> errors;  // the first few, one line each, fit for a terminal
  std::uint64_t planned = 0;
  std::chrono::duration<double> elapsed{};
};

// An aligned table and the first errors, or one JSON object on one line.
void print_replay(const ReplayReport& report, bool as_json, std::ostream& out);

// 0; 1 if any was rejected or failed, or the replay was stopped; 3 if no connection could be made.
int replay_exit_code(const ReplayReport& report);

}  // namespace hookgate
