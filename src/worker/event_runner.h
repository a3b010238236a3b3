#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "domain/backoff.h"
#include "domain/handler.h"
#include "store/connection_pool.h"
#include "store/event_queue.h"
#include "telemetry/metrics.h"
#include "worker/handler_runs.h"

namespace hookgate {

// A source as the worker sees it: whose events, and what reacts to them.
struct HandledSource {
  std::string name;
  std::string provider;
  std::vector<Handler*> handlers;  // in the order they run; owned by the caller
};

struct RunnerSettings {
  std::size_t batch_events_max = 50;
  std::chrono::milliseconds lease{20'000};
  std::chrono::milliseconds lone_lease{
      80'000};                    // of an event that runs alone after a lease expired
  int failures_max = 15;          // then dead
  int crashes_max = 30;           // a lost process or database is no failure of a handler
  int transient_retries_max = 5;  // of deadlocks and such, at once, within one claim
  BackoffPolicy backoff{};
  std::int32_t instance = 0;   // of this process; see store/event_queue.h
  Metrics* metrics = nullptr;  // outlives the runner; null: nothing is observed
};

// Runs the handlers of claimed events. What a handler writes and the mark "done" commit in one
// transaction, which the claim's fencing token guards. A batch is tried without savepoints first;
// as soon as one event of it does not succeed, all is rolled back and each runs in a transaction of
// its own with a savepoint around every handler. Thread-safe; each call uses its own connections.
class EventRunner {
 public:
  // `claims` may lend sessions without synchronous_commit; `runs` must not.
  EventRunner(ConnectionPool& claims, ConnectionPool& runs, std::vector<HandledSource> sources,
              Clock clock, RunnerSettings settings);

  // Claims and runs one batch; returns how many events it claimed. Throws StoreUnavailable.
  std::size_t run_once();

 private:
  struct Run;  // one event and what became of it

  std::size_t run_claimed(std::vector<ClaimedEvent> claimed);
  bool run_together(std::vector<ClaimedEvent>& claimed);
  void run_alone(ClaimedEvent& claimed);
  FinishedEvent run_handlers(EventTransaction& transaction, const ClaimedEvent& claimed,
                             bool savepoints, HandlerRuns& handler_runs) const;
  void run_alone_once(ConnectionPool::Lease& lease, const ClaimedEvent& claimed);
  FinishedEvent crashed_too_often(const ClaimedEvent& claimed) const;
  const HandledSource& source_of(const ClaimedEvent& claimed) const;
  std::vector<std::string> lock_names(const std::vector<ClaimedEvent>& claimed) const;
  void load_versions_where_seen(std::vector<ClaimedEvent>& claimed);

  ConnectionPool& claims_;
  ConnectionPool& runs_;
  std::map<std::string, HandledSource, std::less<>> sources_;
  std::vector<std::string> source_names_;
  Clock clock_;
  RunnerSettings settings_;
};

}  // namespace hookgate
