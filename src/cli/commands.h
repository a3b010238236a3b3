#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/event_control.h"
#include "store/event_reader.h"
#include "store/ledger_reader.h"

// One options struct and one function a subcommand. Each function returns the exit code of
// run_command_line, or throws what `exit_code_of` knows.
namespace hookgate {

enum ExitCode { kExitDone = 0, kExitFailed = 1, kExitUsage = 2, kExitUnreachable = 3 };

// The request cannot be done as asked (a missing file, a bad option value); exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ServeOptions {
  std::string config;
};
int serve_command(const ServeOptions& options);

struct DevOptions {
  std::string data_dir = ".hookgate";
  std::string listen;  // "": as D/hookgate.toml says
  std::string admin_listen;
  std::string fixtures;  // "": found beside the working directory or the program
  bool once = false;
  bool json = false;
};
int dev_command(const DevOptions& options);

struct ConfigOptions {
  std::string config;
  bool connect = false;  // check
  bool json = false;
};
int migrate_command(const ConfigOptions& options);
int check_command(const ConfigOptions& options);
int prune_command(const ConfigOptions& options);

struct ReplayCommandOptions {
  std::vector<std::string> paths;
  std::string to;
  std::string config;
  std::string secret;
  std::string provider;
  int times = 1;
  std::optional<std::uint64_t> shuffle;
  int concurrency = 8;
  double rate = 0;
  bool keep_signature = false;
  bool json = false;
};
int replay_command(const ReplayCommandOptions& options);

struct BenchOptions {
  std::string to;
  std::string source;
  std::string config;
  int connections = 64;
  std::chrono::milliseconds duration{10'000};
  std::uint64_t count = 0;  // 0: until the duration is over
  double rate = 0;          // 0: closed loop
  double duplicates = 0.05;
  double forged = 0;
  std::int64_t body_bytes = 3072;
  bool allow_remote = false;
  bool json = false;
};
int bench_command(const BenchOptions& options);

struct SignOptions {
  std::string path;
  std::string provider;
  std::string secret;
  std::string scheme = "item";
  std::optional<long long> at;
};
int sign_command(const SignOptions& options);

struct VerifyOptions {
  std::string path;
  std::string config;
  std::string source;
  std::optional<long long> at;
  bool json = false;
};
int verify_command(const VerifyOptions& options);

struct EventsListOptions {
  std::string config;
  EventFilter filter;
  bool json = false;
};
int events_list_command(const EventsListOptions& options);

struct ShowOptions {
  std::string config;
  std::string id;
  bool body = false;  // events: print the body's bytes and nothing else
  bool json = false;
};
int events_show_command(const ShowOptions& options);

// `events retry` and `events discard`.
struct EventControlOptions {
  EventControlOptions() { filter.limit = kEveryEvent; }
  std::string config;
  std::vector<std::string> ids;
  EventFilter filter;
  bool dead = false;
  bool force = false;  // retry
  bool dry_run = false;
  bool json = false;
};
int events_retry_command(const EventControlOptions& options);
int events_discard_command(const EventControlOptions& options);

struct PaymentsListOptions {
  std::string config;
  PaymentFilter filter;
  bool json = false;
};
int payments_list_command(const PaymentsListOptions& options);
int payments_show_command(const ShowOptions& options);

// The configuration file to use: `given`, else $HOOKGATE_CONFIG, else ./hookgate.toml, else the one
// that `hookgate dev` keeps in ./.hookgate. Throws UsageError when there is none.
std::filesystem::path config_path(const std::string& given);

}  // namespace hookgate
