#include "cli/fixture_trial.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <thread>

#include "cli/payments_table.h"
#include "cli/replay.h"
#include "cli/replay_sources.h"
#include "cli/table.h"
#include "store/event_reader.h"
#include "store/ledger_reader.h"

namespace hookgate {
namespace {

constexpr int kTimes = 2;
constexpr std::uint64_t kShuffleSeed = 20260101;
constexpr std::chrono::seconds kSettleMax{60};

std::filesystem::path fixtures_folder(const std::string& given) {
  if (!given.empty()) return given;
  if (std::filesystem::exists("fixtures")) return "fixtures";
  // build/<preset>/hookgate: the checkout is two folders up.
  const auto beside =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../../fixtures";
  if (std::filesystem::exists(beside)) return std::filesystem::canonical(beside);
  throw UsageError("no folder 'fixtures' here; give --fixtures DIR");
}

std::int64_t pending(const std::vector<EventCounts>& counts) {
  std::int64_t events = 0;
  for (const auto& count : counts) {
    if (count.status == "pending") events += count.events;
  }
  return events;
}

std::vector<EventCounts> settled_counts(Connection& connection) {
  const auto deadline = std::chrono::steady_clock::now() + kSettleMax;
  for (;;) {
    auto counts = count_events(connection);
    if (pending(counts) == 0 || std::chrono::steady_clock::now() > deadline) return counts;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

std::string events_table(const std::vector<EventCounts>& counts) {
  Table table{{"SOURCE", "STATUS", "EVENTS", "DELIVERIES"}, {2, 3}};
  for (const auto& count : counts) {
    table.add({count.source, count.status, std::to_string(count.events),
               std::to_string(count.deliveries)});
  }
  return table.text();
}

struct Sums {
  std::int64_t events = 0;
  std::int64_t deliveries = 0;
};

Sums sums_of(const std::vector<EventCounts>& counts) {
  Sums sums;
  for (const auto& count : counts) {
    sums.events += count.events;
    sums.deliveries += count.deliveries;
  }
  return sums;
}

void check(bool holds, const std::string& what, int& code) {
  std::printf("%s  %s\n", holds ? "ok    " : "BROKEN", what.c_str());
  if (!holds) code = kExitFailed;
}

}  // namespace

int run_fixture_trial(App& app, const Config& config, const DevOptions& options) {
  ReplayOptions replay_options;
  replay_options.paths = {fixtures_folder(options.fixtures)};
  replay_options.to = "http://" + app.public_address();
  replay_options.sources = replay_sources(config);
  replay_options.times = kTimes;
  replay_options.shuffle = kShuffleSeed;
  const auto report = replay(replay_options);
  Connection connection{config.database.url, SessionSettings{}};
  const auto counts = settled_counts(connection);
  print_replay(report, options.json, std::cout);
  std::cout.flush();
  if (!options.json) std::printf("\n%s", events_table(counts).c_str());

  const auto sums = sums_of(counts);
  const auto effects = handled_once(connection);
  int code = replay_exit_code(report);
  std::printf("\n");
  check(replay_exit_code(report) == kExitDone, "every request was answered 2xx", code);
  check(pending(counts) == 0, "no event is waiting", code);
  check(sums.deliveries >= static_cast<std::int64_t>(kTimes) * sums.events,
        std::to_string(sums.deliveries) + " deliveries are " + std::to_string(sums.events) +
            " events",
        code);
  check(effects.run_again == 0,
        "each of the " + std::to_string(effects.handled) + " handled events took effect once",
        code);
  PaymentFilter all;
  all.limit = 1'000;
  std::printf("\n%s", payments_table(list_payments(connection, all)).c_str());
  return code;
}

}  // namespace hookgate
