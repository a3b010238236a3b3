#include "worker/event_runner.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "domain/text.h"
#include "telemetry/log.h"
#include "worker/handler_progress.h"

namespace hookgate {
namespace {

// Thrown inside a transaction to leave it without a commit.
struct Abandon {};

std::uint64_t random_bits() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return random();
}

}  // namespace

EventRunner::EventRunner(ConnectionPool& claims, ConnectionPool& runs,
                         std::vector<HandledSource> sources, Clock clock, RunnerSettings settings)
    : claims_(claims), runs_(runs), clock_(std::move(clock)), settings_(settings) {
  for (auto& source : sources) {
    source_names_.push_back(source.name);
    auto name = source.name;
    sources_.emplace(std::move(name), std::move(source));
  }
}

std::size_t EventRunner::run_once() {
  ClaimOptions options;
  options.events_max = settings_.batch_events_max;
  options.lease = settings_.lease;
  options.sources = source_names_;
  options.instance = settings_.instance;
  std::vector<ClaimedEvent> claimed;
  {
    auto lease = claims_.acquire();
    claimed = claim_events(*lease, options);
    // Leases expire seldom, so they are looked for only when the fresh ones do not fill a batch.
    if (claimed.empty()) {
      options.lease = settings_.lone_lease;
      claimed = claim_expired(*lease, options);
    }
  }
  return claimed.empty() ? 0 : run_claimed(std::move(claimed));
}

std::size_t EventRunner::run_claimed(std::vector<ClaimedEvent> claimed) {
  for (auto& one : claimed) one.event.provider = source_of(one).provider;
  load_versions_where_seen(claimed);
  if (!run_together(claimed)) {
    for (auto& one : claimed) run_alone(one);
  }
  return claimed.size();
}

const HandledSource& EventRunner::source_of(const ClaimedEvent& claimed) const {
  return sources_.find(claimed.event.source)->second;
}

void EventRunner::load_versions_where_seen(std::vector<ClaimedEvent>& claimed) {
  for (auto& one : claimed) {
    if (one.versions == 0) continue;
    const auto& handlers = source_of(one).handlers;
    if (std::ranges::none_of(handlers,
                             [](const Handler* handler) { return handler->sees_versions(); })) {
      continue;
    }
    auto lease = claims_.acquire();
    load_versions(*lease, one);
  }
}

std::vector<std::string> EventRunner::lock_names(const std::vector<ClaimedEvent>& claimed) const {
  std::vector<std::string> names;
  for (const auto& one : claimed) {
    for (const auto* handler : source_of(one).handlers) {
      for (auto& name : handler->lock_keys(one.event)) names.push_back(clean_text(name));
    }
  }
  return names;
}

FinishedEvent EventRunner::crashed_too_often(const ClaimedEvent& claimed) const {
  FinishedEvent finished;
  finished.id = claimed.event.id;
  finished.status = FinishedEvent::Status::kDead;
  finished.finished = claimed.finished;
  finished.last_error = "its run was cut off " + std::to_string(claimed.crashes) +
                        " times: the process or the database went away";
  return finished;
}

// One handler after the other; each succeeds or fails for itself. Without savepoints the first one
// that does not succeed ends the attempt, because its writes can only be undone with all others.
FinishedEvent EventRunner::run_handlers(EventTransaction& transaction, const ClaimedEvent& claimed,
                                        bool savepoints, HandlerRuns& handler_runs) const {
  if (claimed.crashes > settings_.crashes_max) return crashed_too_often(claimed);
  HandlerProgress progress{claimed};
  HandlerContext context{transaction.sql(), clock_()};
  for (auto* handler : source_of(claimed).handlers) {
    if (progress.is_finished(*handler)) continue;
    if (claimed.body_missing) {
      progress.record(*handler, GiveUp{"its body was removed by retention"});
      continue;
    }
    if (savepoints) transaction.savepoint();
    Outcome outcome;
    try {
      outcome = handler_runs.run(*handler, claimed.event, context);
    } catch (const StoreUnavailable&) {
      throw;
    } catch (const SqlError& error) {
      if (error.is_transient() || !savepoints) throw;
      outcome = RetryLater{error.what()};
      handler_runs.failed();
    } catch (const std::exception& error) {
      outcome = RetryLater{error.what()};
      handler_runs.failed();
    }
    const bool succeeded =
        std::holds_alternative<Done>(outcome) || std::holds_alternative<Ignored>(outcome);
    if (!succeeded && !savepoints) throw Abandon{};
    if (savepoints)
      succeeded ? transaction.release_savepoint() : transaction.rollback_to_savepoint();
    progress.record(*handler, std::move(outcome));
  }
  return progress.result(settings_.failures_max, [this](int failures) {
    return backoff_delay(settings_.backoff, failures, random_bits());
  });
}

// True when the batch is settled: all succeeded and committed.
bool EventRunner::run_together(std::vector<ClaimedEvent>& claimed) {
  if (claimed.size() < 2) return false;
  auto lease = runs_.acquire();
  HandlerRuns handler_runs{settings_.metrics};
  try {
    in_event_transaction(*lease, [&](EventTransaction& transaction) {
      transaction.lock(lock_names(claimed));
      transaction.defer();
      std::vector<FinishedEvent> finished;
      finished.reserve(claimed.size());
      for (const auto& one : claimed) {
        finished.push_back(run_handlers(transaction, one, false, handler_runs));
      }
      if (transaction.finish(claimed.front().token, finished) != finished.size()) throw Abandon{};
      transaction.commit();
      handler_runs.committed();
    });
    return true;
  } catch (const Abandon&) {
    return false;
  } catch (const SqlError&) {
    return false;
  }
}

void EventRunner::run_alone(ClaimedEvent& claimed) {
  for (int attempt = 0;; ++attempt) {
    auto lease = runs_.acquire();
    try {
      run_alone_once(lease, claimed);
      return;
    } catch (const Abandon&) {
      log(LogLevel::kWarn, "event was taken over by another worker",
          {{"source", claimed.event.source}, {"event_id", claimed.event.event_id}});
      return;
    } catch (const SqlError& error) {
      // Deadlocks and the like are nobody's failure: the same again at once. What stays wrong is
      // left to the lease, which counts it as a crash.
      if (attempt >= settings_.transient_retries_max) {
        log(LogLevel::kError, "event could not be run",
            {{"event_id", claimed.event.event_id}, {"reason", std::string_view{error.what()}}});
        return;
      }
    }
  }
}

void EventRunner::run_alone_once(ConnectionPool::Lease& lease, const ClaimedEvent& claimed) {
  HandlerRuns handler_runs{settings_.metrics};
  in_event_transaction(*lease, [&](EventTransaction& transaction) {
    transaction.lock(lock_names({claimed}));
    const std::vector<FinishedEvent> finished{
        run_handlers(transaction, claimed, true, handler_runs)};
    if (transaction.finish(claimed.token, finished) != 1) throw Abandon{};
    transaction.commit();
    handler_runs.committed();
    if (finished[0].status == FinishedEvent::Status::kDead) {
      log(LogLevel::kError, "event is dead",
          {{"source", claimed.event.source},
           {"event_id", claimed.event.event_id},
           {"id", claimed.event.id},
           {"reason", finished[0].last_error}});
    }
  });
}

}  // namespace hookgate
