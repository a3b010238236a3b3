#include "cli/fixture_trial.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <thread>

#include <nlohmann/json.hpp>

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

struct Check {
  bool holds;
  std::string what;
};

std::vector<Check> checks_of(const ReplayReport& report, const std::vector<EventCounts>& counts,
                             const HandledCounts& effects) {
  const auto sums = sums_of(counts);
  return {{replay_exit_code(report) == kExitDone, "every request was answered 2xx"},
          {pending(counts) == 0, "no event is waiting"},
          {sums.deliveries >= static_cast<std::int64_t>(kTimes) * sums.events,
           std::to_string(sums.deliveries) + " deliveries are " + std::to_string(sums.events) +
               " events"},
          {effects.run_again == 0,
           "each of the " + std::to_string(effects.handled) + " handled events took effect once"}};
}

void print_text(const std::vector<EventCounts>& counts, const std::vector<Check>& checks,
                const std::vector<PaymentRow>& payments) {
  std::printf("\n%s\n", events_table(counts).c_str());
  for (const auto& check : checks) {
    std::printf("%s  %s\n", check.holds ? "ok    " : "BROKEN", check.what.c_str());
  }
  std::printf("\n%s", payments_table(payments).c_str());
}

void print_json_lines(const std::vector<EventCounts>& counts, const std::vector<Check>& checks,
                      const std::vector<PaymentRow>& payments) {
  nlohmann::ordered_json json;
  for (const auto& count : counts) {
    json["events"].push_back({{"source", count.source},
                              {"status", count.status},
                              {"events", count.events},
                              {"deliveries", count.deliveries}});
  }
  for (const auto& check : checks)
    json["checks"].push_back({{"holds", check.holds}, {"what", check.what}});
  std::printf("%s\n", json.dump().c_str());
  std::fputs(payments_json_lines(payments).c_str(), stdout);
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
  const auto checks = checks_of(report, counts, handled_once(connection));
  PaymentFilter all;
  all.limit = 1'000;
  const auto payments = list_payments(connection, all);
  options.json ? print_json_lines(counts, checks, payments) : print_text(counts, checks, payments);
  const bool all_hold = std::ranges::all_of(checks, [](const Check& check) { return check.holds; });
  return all_hold ? kExitDone : kExitFailed;
}

}  // namespace hookgate
