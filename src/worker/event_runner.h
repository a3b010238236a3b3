#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "domain/backoff.h"
#include "domain/handler.h"
#include "store/event_queue.h"
#include "telemetry/metrics.h"
#include "worker/handler_runs.h"
#include "worker/limited_sql.h"

namespace hookgate {

// A source as the worker sees it: whose events, and what reacts to them.
struct HandledSource {
  std::string name;
  std::string provider;
  std::vector<Handler*> handlers;  // in the order they run; owned by the caller
};

// What a lease must be longer than a handler's run: time for locks before it and the commit after
// it.
inline constexpr std::chrono::milliseconds kLeaseMargin{10'000};

struct RunnerSettings {
  std::size_t batch_events_max = 50;
  // Of one run of one handler. At least kLeaseMargin below the leases; the sessions of the runs
  // have it as statement_timeout.
  std::chrono::milliseconds handler_timeout{30'000};
  std::chrono::milliseconds lease{40'000};
  std::chrono::milliseconds lone_lease{
      80'000};                    // of an event that runs alone after a lease expired
  int failures_max = 15;          // then dead
  int crashes_max = 30;           // a lost process or database is no failure of a handler
  int transient_retries_max = 5;  // of deadlocks and such, at once, within one claim
  BackoffPolicy backoff{};
  std::int32_t instance = 0;              // of this process; see store/event_queue.h
  Metrics* metrics = nullptr;             // outlives the runner; null: nothing is observed
  std::function<std::uint64_t()> random;  // uniform over all bits; empty: of the thread
  SteadyClock steady_clock;               // empty: std::chrono::steady_clock
};

// Runs the handlers of claimed events. What a handler writes and the mark "done" commit in one
// transaction, which the claim's fencing token guards. A batch is tried without savepoints first;
// as soon as one event of it does not succeed, all is rolled back and each runs in a transaction of
// its own with a savepoint around every handler. Leases are renewed between two handlers, so a long
// batch keeps them and a handler that hangs does not. Thread-safe when the queue is.
class EventRunner {
 public:
  EventRunner(EventQueue& queue, std::vector<HandledSource> sources, Clock clock,
              RunnerSettings settings);

  // Claims and runs one batch; returns how many events it claimed. Throws StoreUnavailable.
  std::size_t run_once();

 private:
  // The claim that a batch is run under.
  struct Hold {
    std::int64_t token = 0;
    std::vector<std::int64_t> ids;  // not settled yet
    std::chrono::milliseconds lease{0};
    std::chrono::steady_clock::time_point since{};  // the lease began then or later
  };

  std::vector<ClaimedEvent> claim(Hold& hold);
  std::size_t run_claimed(std::vector<ClaimedEvent> claimed, Hold hold);
  bool run_together(const std::vector<ClaimedEvent>& claimed, Hold& hold);
  void run_alone(const ClaimedEvent& claimed, Hold& hold);
  void run_alone_once(const ClaimedEvent& claimed, Hold& hold);
  void postpone(const ClaimedEvent& claimed, const std::string& reason);
  bool keep(Hold& hold) const;
  FinishedEvent run_handlers(EventTransaction& transaction, const ClaimedEvent& claimed,
                             bool savepoints, HandlerRuns& handler_runs, Hold& hold) const;
  FinishedEvent crashed_too_often(const ClaimedEvent& claimed) const;
  const HandledSource& source_of(const ClaimedEvent& claimed) const;
  std::vector<std::string> lock_names(const std::vector<ClaimedEvent>& claimed) const;
  void load_versions_where_seen(std::vector<ClaimedEvent>& claimed);

  EventQueue& queue_;
  std::map<std::string, HandledSource, std::less<>> sources_;
  std::vector<std::string> source_names_;
  Clock clock_;
  RunnerSettings settings_;
  std::atomic<std::uint64_t> turns_ = 0;
};

}  // namespace hookgate
