#include "simulation.h"

#include <algorithm>
#include <array>
#include <limits>

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kFailuresMax = 9;
constexpr milliseconds kHandlerTimeout{30'000};
constexpr milliseconds kLease = kHandlerTimeout + kLeaseMargin;
constexpr int kStepsMax = 3'000;  // of the end, after which it is taken for endless
constexpr std::size_t kWorkersInside = 3;

enum class Way { kGood, kIgnores, kGivesUp, kFailsOnce, kThrowsOnce, kNeverReady, kKillsProcess };

// What a handler did in the transaction that is open.
enum class Did { kWrote, kIgnored, kGaveUp, kFailed };
struct HandlerRun {
  std::int64_t event;
  std::string handler;
  Did did;
};

// How many more faults of a kind there may be. Together they stay below the budgets of an event, so
// that only one that deserves it may end dead.
struct FaultsLeft {
  int losses = 4;  // of a process, a session or a lease
  int statements = 2;
  int retries = 1;
  int discards = 1;
};

std::set<std::string> names_of(const std::string& list) {
  std::set<std::string> names;
  std::string name;
  for (const char c : list + ",") {
    if (c != ',') {
      name += c;
    } else if (!name.empty()) {
      names.insert(std::exchange(name, {}));
    }
  }
  return names;
}

class Simulation;

class SimulatedHandler final : public Handler {
 public:
  SimulatedHandler(std::string name, Simulation& simulation)
      : name_(std::move(name)), simulation_(simulation) {}
  std::string_view name() const override { return name_; }
  Outcome handle(const Event& event, HandlerContext& context) override;
  std::vector<std::string> lock_keys(const Event& event) const override { return {event.subject}; }

 private:
  std::string name_;
  Simulation& simulation_;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, const SimulationSettings& settings);
  void run();

  Way way(std::int64_t event, const std::string& handler) { return ways_.at({event, handler}); }
  bool first_time(std::int64_t event, const std::string& handler) {
    return begun_.insert({event, handler}).second;
  }
  void did(std::int64_t event, const std::string& handler, Did what) {
    runs_.back().push_back({event, handler, what});
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::int64_t any_event() { return 1 + static_cast<std::int64_t>(below(queue_.events.size())); }

  void make_events();
  void make_runners(int crashes_max);
  void interrupt(std::string_view place);
  void lose_something(std::string_view place);
  void fail_statement(std::string_view place);
  void act_as_operator();
  std::size_t work();
  void check_commit(const std::vector<FinishedEvent>& finished,
                    const std::vector<MemoryEffect>& effects);
  void check_finished(const FinishedEvent& event, const std::vector<MemoryEffect>& effects);
  std::string status_of(const FinishedEvent& event, const MemoryEvent& row, bool failed) const;
  void drain();
  void check_end();
  void check_end_of(const MemoryEvent& event);
  void require(bool holds, std::int64_t event, const std::string& what) const;

  std::mt19937_64 random_;
  MemoryEventQueue queue_;
  std::vector<std::unique_ptr<SimulatedHandler>> handlers_;
  std::vector<std::unique_ptr<EventRunner>> runners_;
  std::map<std::pair<std::int64_t, std::string>, Way> ways_;
  std::set<std::pair<std::int64_t, std::string>> begun_;
  std::vector<std::vector<HandlerRun>> runs_;  // of each worker inside another's
  std::set<std::int64_t> discarded_;
  const int crashes_max_;
  FaultsLeft left_;
  bool quiet_ = false;
};

Outcome SimulatedHandler::handle(const Event& event, HandlerContext& context) {
  const auto way = simulation_.way(event.id, name_);
  const bool first_time = simulation_.first_time(event.id, name_);
  const auto ended = [&](Did did, Outcome outcome) {
    simulation_.did(event.id, name_, did);
    return outcome;
  };
  try {
    context.sql().execute(kReadOnly);
    if (way == Way::kIgnores) return ended(Did::kIgnored, Ignored{});
    context.sql().execute(kWriteEffect, {event.id, name_});
    if (way == Way::kKillsProcess) throw ProcessCrash{};
    if (way == Way::kGivesUp) return ended(Did::kGaveUp, GiveUp{"never"});
    if (way == Way::kNeverReady || (way == Way::kFailsOnce && first_time))
      return ended(Did::kFailed, RetryLater{"busy"});
    if (way == Way::kThrowsOnce && first_time) context.sql().execute("23505");
    context.sql().execute(kReadOnly);
  } catch (const SqlError&) {
    simulation_.did(event.id, name_, Did::kFailed);
    throw;
  }
  return ended(Did::kWrote, Done{});
}

Simulation::Simulation(std::uint64_t seed, const SimulationSettings& settings)
    : random_(seed), queue_(random_, settings.broken), crashes_max_(settings.crashes_max) {
  for (const auto* name : {"a", "b", "c"})
    handlers_.push_back(std::make_unique<SimulatedHandler>(name, *this));
  make_events();
  make_runners(settings.crashes_max);
  queue_.interruption = [this](std::string_view place) { interrupt(place); };
  queue_.commit_watch = [this](const auto& finished, const auto& effects) {
    check_commit(finished, effects);
  };
}

void Simulation::make_events() {
  constexpr std::array kWays{Way::kIgnores, Way::kGivesUp, Way::kFailsOnce, Way::kThrowsOnce,
                             Way::kNeverReady};
  const auto count = 1 + static_cast<std::int64_t>(below(8));
  for (std::int64_t id = 1; id <= count; ++id) {
    MemoryEvent event;
    event.id = id;
    event.source = "s" + std::to_string(below(3));
    event.subject = "subject" + std::to_string(below(4));
    event.due_at = seconds{below(30)};
    for (const auto& handler : handlers_) {
      ways_[{id, std::string{handler->name()}}] =
          one_in(3) ? kWays[static_cast<std::size_t>(below(kWays.size()))] : Way::kGood;
    }
    queue_.events[id] = event;
  }
  if (one_in(3)) ways_[{any_event(), "b"}] = Way::kKillsProcess;
}

void Simulation::make_runners(int crashes_max) {
  std::vector<HandledSource> sources;
  for (const auto* name : {"s0", "s1", "s2"}) {
    sources.push_back({name, "stripe", {}});
    for (const auto& handler : handlers_) sources.back().handlers.push_back(handler.get());
  }
  RunnerSettings settings;
  settings.batch_events_max = 1 + static_cast<std::size_t>(below(6));
  settings.handler_timeout = kHandlerTimeout;
  settings.lease = kLease;
  settings.lone_lease = 2 * kLease;
  settings.failures_max = kFailuresMax;
  settings.crashes_max = crashes_max;
  settings.random = [this] { return random_(); };
  settings.steady_clock = [this] { return std::chrono::steady_clock::time_point{queue_.now}; };
  for (int i = 0; i < 2; ++i) {
    runners_.push_back(std::make_unique<EventRunner>(
        queue_, sources, [this] { return SystemTime{queue_.now}; }, settings));
  }
}

// What else may happen between two statements of a worker.
void Simulation::interrupt(std::string_view place) {
  if (place == "begin") runs_.back().clear();
  if (quiet_) return;
  if (one_in(24)) lose_something(place);
  if (one_in(40)) fail_statement(place);
  if (one_in(40)) act_as_operator();
  if (one_in(12)) queue_.now += seconds{below(8)};
  if (one_in(8) && runs_.size() < kWorkersInside) work();
}

void Simulation::lose_something(std::string_view) {
  if (left_.losses == 0) return;
  --left_.losses;
  switch (below(4)) {
    case 0: throw ProcessCrash{};
    case 1: throw StoreUnavailable("the session is lost");
    case 2: queue_.now += kLease + seconds{below(30)}; break;
    default:
      // A worker that hangs while another, which thinks it dead, does its work.
      queue_.now += 3 * kLease;
      if (runs_.size() < kWorkersInside) work();
  }
}

void Simulation::fail_statement(std::string_view place) {
  const bool is_statement = place == "statement" || place == "lock" || place == "finish";
  if (left_.statements == 0 || (!is_statement && place != "commit")) return;
  --left_.statements;
  constexpr std::array kStates{"40001", "40P01", "57014", "55P03"};
  const auto* state = kStates[below(is_statement ? 4 : 2)];
  throw SqlError(state, std::string{"injected "} + state);
}

void Simulation::act_as_operator() {
  const auto id = any_event();
  if (one_in(2)) {
    if (left_.retries > 0 && queue_.retry(id)) {
      --left_.retries;
      discarded_.erase(id);
    }
  } else if (left_.discards > 0 && queue_.discard(id)) {
    --left_.discards;
    discarded_.insert(id);
  }
}

// One turn of some worker; it may be the last of its process.
std::size_t Simulation::work() {
  runs_.emplace_back();
  std::size_t ran = 1;
  try {
    ran = runners_[below(runners_.size())]->run_once();
  } catch (const ProcessCrash&) {
  } catch (const StoreUnavailable&) {
  }
  runs_.pop_back();
  return ran;
}

void Simulation::require(bool holds, std::int64_t event, const std::string& what) const {
  if (holds) return;
  const auto& row = queue_.events.at(event);
  throw Violation{what + ": event " + std::to_string(event) + ", " + row.status + ", attempts " +
                  std::to_string(row.attempts) + ", failures " + std::to_string(row.failures) +
                  ", crashes " + std::to_string(row.crashes) + ", finished '" + row.finished +
                  "', last error '" + row.last_error + "'"};
}

void Simulation::check_commit(const std::vector<FinishedEvent>& finished,
                              const std::vector<MemoryEffect>& effects) {
  for (const auto& effect : effects) {
    require(std::ranges::count(finished, effect.event, &FinishedEvent::id) == 1, effect.event,
            "an effect is committed without the mark of its event");
    require(std::ranges::count(effects, effect) + std::ranges::count(queue_.effects, effect) == 1,
            effect.event, "handler " + effect.handler + " has its effect twice");
  }
  for (const auto& event : finished) check_finished(event, effects);
}

// The mark of an event says just what its handlers did in this transaction.
void Simulation::check_finished(const FinishedEvent& event,
                                const std::vector<MemoryEffect>& effects) {
  const auto& row = queue_.events.at(event.id);
  require(row.status == "pending" && row.claim_token != 0, event.id, "finished without a claim");
  auto names = names_of(row.finished);
  bool failed = false;
  bool ran = false;
  for (const auto& run : runs_.back()) {
    if (run.event != event.id) continue;
    ran = true;
    for (const auto* mark : {"", "!", "?"})
      require(!names.contains(run.handler + mark), event.id,
              "handler " + run.handler + " ran although it was through");
    const bool wrote = std::ranges::count(effects, MemoryEffect{event.id, run.handler}) == 1;
    require(wrote == (run.did == Did::kWrote), event.id,
            "the effect of " + run.handler + " is not what it said");
    if (run.did == Did::kFailed) failed = true;
    if (run.did == Did::kWrote) names.insert(run.handler);
    if (run.did == Did::kGaveUp) names.insert(run.handler + "!");
    if (run.did == Did::kIgnored) names.insert(run.handler + "?");
  }
  require(names_of(event.finished) == names, event.id, "the finished handlers are not recorded");
  require(event.failed == failed, event.id, "the failure is not counted as it was");
  if (!ran) {
    // Nobody could run it, and nobody may from now on; or its locks were held, and it comes again.
    const bool over_budget = row.crashes > crashes_max_;
    require(event.status ==
                (over_budget ? FinishedEvent::Status::kDead : FinishedEvent::Status::kRetry),
            event.id, "an event that was not run has a wrong state");
    return;
  }
  require(
      event.status == FinishedEvent::Status::kRetry || status_of(event, row, failed) != "pending",
      event.id, "an event ends that should be retried");
  require(
      event.status != FinishedEvent::Status::kRetry || status_of(event, row, failed) == "pending",
      event.id, "an event is retried that should end");
}

std::string Simulation::status_of(const FinishedEvent& event, const MemoryEvent& row,
                                  bool failed) const {
  if (failed) return row.failures + 1 >= kFailuresMax ? "dead" : "pending";
  const auto names = names_of(event.finished);
  const auto ends_with = [](char mark) {
    return [mark](const std::string& name) { return name.ends_with(mark); };
  };
  if (std::ranges::any_of(names, ends_with('!'))) return "dead";
  return std::ranges::all_of(names, ends_with('?')) ? "ignored" : "done";
}

void Simulation::drain() {
  for (int step = 0; step < kStepsMax; ++step) {
    if (work() > 0) continue;
    auto next = milliseconds::max();
    for (const auto& [id, event] : queue_.events) {
      if (event.status == "pending") next = std::min(next, event.due_at);
    }
    if (next == milliseconds::max()) return;
    if (next <= queue_.now) throw Violation{"a due event is not claimed"};
    queue_.now = next;
  }
  throw Violation{"it never ends"};
}

void Simulation::check_end() {
  for (const auto& [id, event] : queue_.events) check_end_of(event);
}

void Simulation::check_end_of(const MemoryEvent& event) {
  std::set<Way> ways;
  for (const auto& handler : handlers_) ways.insert(way(event.id, std::string{handler->name()}));
  const bool kills = ways.contains(Way::kKillsProcess);
  std::string expected = "done";
  if (ways == std::set{Way::kIgnores}) expected = "ignored";
  if (kills || ways.contains(Way::kNeverReady) || ways.contains(Way::kGivesUp)) expected = "dead";
  const bool is_discarded = discarded_.contains(event.id);
  if (is_discarded) expected = "discarded";
  require(event.status == expected, event.id, "it should have ended " + expected);
  require(event.attempts >= event.failures + event.crashes, event.id, "claims are not counted");
  require(event.claim_token == 0, event.id, "it still has a token");
  if (kills && !is_discarded)
    require(event.crashes == crashes_max_ + 1, event.id, "its crashes are not its budget");
  if (kills || is_discarded) return;
  for (const auto& handler : handlers_) {
    const std::string name{handler->name()};
    const auto way = this->way(event.id, name);
    const bool writes = way == Way::kGood || way == Way::kFailsOnce || way == Way::kThrowsOnce;
    require(std::ranges::count(queue_.effects, MemoryEffect{event.id, name}) == (writes ? 1 : 0),
            event.id, "handler " + name + " has not had its effect once");
  }
}

void Simulation::run() {
  for (int turn = 0; turn < 12; ++turn) {
    work();
    queue_.now += seconds{below(20)};
  }
  quiet_ = true;
  drain();
  check_end();
}

}  // namespace

void simulate(std::uint64_t seed, const SimulationSettings& settings) {
  Simulation{seed, settings}.run();
}

}  // namespace hookgate
