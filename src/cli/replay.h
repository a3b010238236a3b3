#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/replay_report.h"
#include "domain/provider.h"
#include "domain/secret.h"
#include "domain/time.h"

namespace hookgate {

// The replay cannot be done as asked (no URL, no secret for a source, a secret that cannot sign).
// `what()` is one line for the user and holds no secret.
class ReplayError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::uint64_t kReplayRequestsMax = 10'000'000;
inline constexpr int kReplayConcurrencyMax = 1024;

struct BasicCredentials {
  Secret user;
  Secret password;
};

// How requests to one source are signed.
struct ReplaySource {
  std::string provider;
  ProviderSettings settings;
  std::optional<BasicCredentials> basic_auth;
};

struct ReplayOptions {
  std::vector<std::filesystem::path> paths;  // fixtures, or folders of them
  std::string to;  // "http://127.0.0.1:8080", or with a prefix that goes before each path
  // By source name: the NAME of a fixture's path /webhooks/NAME.
  std::map<std::string, ReplaySource, std::less<>> sources;
  std::optional<std::string> provider;   // signs in place of the source's
  std::optional<Secret> secret;          // signs in place of the source's
  int times = 1;                         // copies of each fixture
  std::optional<std::uint64_t> shuffle;  // seed of the order; nothing: as found, copy after copy
  int concurrency = 8;                   // connections, each with a thread
  double rate = 0;                       // requests per second started at most; 0: no limit
  bool keep_signature = false;           // send as captured
  std::chrono::milliseconds connect_timeout{3'000};
  std::chrono::milliseconds answer_timeout{30'000};  // of each read and write
  Clock clock = system_now;                          // the time that is signed
  // Requests done, of how many. Called first with 0 before anything is sent, then from any sending
  // thread, several at once.
  std::function<void(std::uint64_t done, std::uint64_t planned)> on_progress;
};

// Sends every fixture `times` times, each signed at the moment it is sent, and tells what became of
// them. Nothing is sent twice because of a fault: faults are counted. The order of a seed is the
// same everywhere; with several connections the arrival may still differ. After a stop request
// those under way are finished and the rest is left out.
// Throws FixtureError and ReplayError before the first request, and nothing after it.
ReplayReport replay(const ReplayOptions& options, const std::stop_token& stop = {});

}  // namespace hookgate
