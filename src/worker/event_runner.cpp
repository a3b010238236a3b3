#include "worker/event_runner.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "domain/text.h"
#include "telemetry/log.h"
#include "worker/handler_progress.h"

namespace hookgate {
namespace {

// Every so many turns an expired lease is looked for first, so that a flood of fresh events cannot
// keep an event waiting that a lost worker held.
constexpr std::uint64_t kExpiredTurn = 16;

// Thrown inside a transaction to leave it without a commit.
struct Abandon {};

std::uint64_t random_bits() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return random();
}

}  // namespace

EventRunner::EventRunner(EventQueue& queue, std::vector<HandledSource> sources, Clock clock,
                         RunnerSettings settings)
    : queue_(queue), clock_(std::move(clock)), settings_(std::move(settings)) {
  if (!settings_.random) settings_.random = random_bits;
  if (!settings_.steady_clock) settings_.steady_clock = std::chrono::steady_clock::now;
  for (auto& source : sources) {
    source_names_.push_back(source.name);
    auto name = source.name;
    sources_.emplace(std::move(name), std::move(source));
  }
}

std::size_t EventRunner::run_once() {
  Hold hold;
  auto claimed = claim(hold);
  return claimed.empty() ? 0 : run_claimed(std::move(claimed), std::move(hold));
}

// Leases expire seldom, so they are looked for only when there is nothing fresh, or in turn.
std::vector<ClaimedEvent> EventRunner::claim(Hold& hold) {
  ClaimOptions options;
  options.events_max = settings_.batch_events_max;
  options.sources = source_names_;
  options.instance = settings_.instance;
  if (!source_names_.empty()) options.first_source = settings_.random() % source_names_.size();
  std::vector<ClaimedEvent> claimed;
  const auto fresh = [&] {
    hold.lease = options.lease = settings_.lease;
    hold.since = settings_.steady_clock();
    claimed = queue_.claim(options);
  };
  const auto expired = [&] {
    hold.lease = options.lease = settings_.lone_lease;
    hold.since = settings_.steady_clock();
    claimed = queue_.claim_expired(options);
  };
  const bool expired_first = turns_++ % kExpiredTurn == kExpiredTurn - 1;
  expired_first ? expired() : fresh();
  if (claimed.empty()) expired_first ? fresh() : expired();
  for (const auto& one : claimed) {
    hold.token = one.token;
    hold.ids.push_back(one.event.id);
  }
  return claimed;
}

std::size_t EventRunner::run_claimed(std::vector<ClaimedEvent> claimed, Hold hold) {
  for (auto& one : claimed) one.event.provider = source_of(one).provider;
  load_versions_where_seen(claimed);
  if (!run_together(claimed, hold)) {
    for (auto& one : claimed) {
      run_alone(one, hold);
      std::erase(hold.ids, one.event.id);
    }
  }
  return claimed.size();
}

// Renews the leases before one could end under a handler that takes all its time. False when one of
// the events is no longer ours.
bool EventRunner::keep(Hold& hold) const {
  const auto now = settings_.steady_clock();
  if (now - hold.since <= hold.lease - settings_.handler_timeout - kLeaseMargin / 2) return true;
  auto renewed = queue_.renew(hold.token, hold.ids, hold.lease);
  hold.since = now;
  hold.ids.swap(renewed);
  return hold.ids.size() == renewed.size();
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
    queue_.load_versions(one);
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
                                        bool savepoints, HandlerRuns& handler_runs,
                                        Hold& hold) const {
  if (claimed.crashes > settings_.crashes_max) return crashed_too_often(claimed);
  HandlerProgress progress{claimed};
  LimitedSql sql{transaction, settings_.handler_timeout, settings_.steady_clock};
  HandlerContext context{sql, clock_()};
  for (auto* handler : source_of(claimed).handlers) {
    if (progress.is_finished(*handler)) continue;
    if (claimed.body_missing) {
      progress.record(*handler, GiveUp{"its body was removed by retention"});
      continue;
    }
    if (!keep(hold) && (!savepoints || !std::ranges::count(hold.ids, claimed.event.id)))
      throw Abandon{};
    if (savepoints) transaction.savepoint();
    sql.begin();
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
    sql.end();
    progress.record(*handler, std::move(outcome));
  }
  return progress.result(settings_.failures_max, [this](int failures) {
    return backoff_delay(settings_.backoff, failures, settings_.random());
  });
}

// True when the batch is settled: all succeeded and committed.
bool EventRunner::run_together(const std::vector<ClaimedEvent>& claimed, Hold& hold) {
  if (claimed.size() < 2) return false;
  try {
    HandlerRuns handler_runs{settings_.metrics};
    queue_.transact([&](EventTransaction& transaction) {
      transaction.lock(lock_names(claimed));
      transaction.defer(settings_.handler_timeout);
      std::vector<FinishedEvent> finished;
      finished.reserve(claimed.size());
      for (const auto& one : claimed) {
        finished.push_back(run_handlers(transaction, one, false, handler_runs, hold));
      }
      if (transaction.finish(hold.token, finished) != finished.size()) throw Abandon{};
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

void EventRunner::run_alone(const ClaimedEvent& claimed, Hold& hold) {
  const auto tell = [&](LogLevel level, std::string_view what, std::string_view reason) {
    log(level, what,
        {{"source", claimed.event.source},
         {"event_id", claimed.event.event_id},
         {"reason", reason}});
  };
  for (int attempt = 0;; ++attempt) {
    try {
      run_alone_once(claimed, hold);
      return;
    } catch (const Abandon&) {
      tell(LogLevel::kWarn, "event was taken from its worker",
           "its lease ended or it was discarded");
      return;
    } catch (const SqlError& error) {
      try {
        if (error.is_timeout()) return postpone(claimed, error.what());
      } catch (const SqlError&) {
        // Left to the lease, as below.
      }
      // Deadlocks and the like are nobody's failure: the same again at once. What stays wrong is
      // left to the lease, which counts it as a crash.
      if (error.is_timeout() || attempt >= settings_.transient_retries_max) {
        tell(LogLevel::kError, "event could not be run", error.what());
        return;
      }
    }
  }
}

void EventRunner::run_alone_once(const ClaimedEvent& claimed, Hold& hold) {
  HandlerRuns handler_runs{settings_.metrics};
  queue_.transact([&](EventTransaction& transaction) {
    transaction.lock(lock_names({claimed}));
    const std::vector<FinishedEvent> finished{
        run_handlers(transaction, claimed, true, handler_runs, hold)};
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

// Locks that somebody else holds kept it from being run at all: later again, and no failure of a
// handler.
void EventRunner::postpone(const ClaimedEvent& claimed, const std::string& reason) {
  FinishedEvent later;
  later.id = claimed.event.id;
  later.status = FinishedEvent::Status::kRetry;
  later.finished = claimed.finished;
  later.last_error = clean_text("waited in vain for a lock: " + reason);
  later.retry_after = backoff_delay(settings_.backoff, 1, settings_.random());
  queue_.transact([&](EventTransaction& transaction) {
    // None: it was taken from us, and there is nothing to write.
    if (transaction.finish(claimed.token, std::vector{later}) == 1) transaction.commit();
  });
}

}  // namespace hookgate
