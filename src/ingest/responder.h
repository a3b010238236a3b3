#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "domain/handler.h"
#include "store/answered_requests.h"
#include "store/connection_pool.h"
#include "store/event_store.h"
#include "telemetry/metrics.h"

namespace hookgate {

struct ResponderSettings {
  int threads = 4;                            // each needs a connection
  std::size_t requests_max = 1'024;           // waiting; more are refused
  std::chrono::milliseconds wait_max{4'000};  // one that waited longer is not begun
  int transient_retries_max = 3;              // of deadlocks and such, at once
  Metrics* metrics = nullptr;                 // outlives the responder; null: nothing is observed
};

// Runs a handler while the sender of the request waits for what it answers: key, effect and answer
// commit in one transaction.
class Responder {
 public:
  struct Job {
    Delivery delivery;
    std::string provider;
    Handler* handler = nullptr;    // null: the request is only stored
    bool others_follow = false;    // other handlers of the source run later
    StoredAnswer without_handler;  // what is answered when no handler has an answer of its own
    std::function<void(AnsweredRequest)> done;  // called exactly once, by a thread of ours
  };

  // `on_stored` is called after a commit that left an event to the workers.
  Responder(ConnectionPool& pool, Clock clock, ResponderSettings settings,
            std::function<void()> on_stored);
  ~Responder() { stop(); }

  void start();
  // Finishes what was submitted, then ends the threads. Idempotent; before start() is fine.
  void stop() noexcept;

  // False when the queue is full or stopped: nothing was taken. Any thread.
  [[nodiscard]] bool submit(Job job);

 private:
  struct Waiting {
    Job job;
    std::chrono::steady_clock::time_point since;
  };

  void run();
  AnsweredRequest answer(EventIds& ids, const Job& job);
  RequestOutcome work(SqlTransaction& sql, std::int64_t id, const Job& job);
  RequestOutcome run_handler(HandlerContext& context, const Event& event, const Job& job);

  ConnectionPool& pool_;
  const Clock clock_;
  const ResponderSettings settings_;
  const std::function<void()> on_stored_;
  std::mutex mutex_;
  std::condition_variable submitted_;
  std::deque<Waiting> waiting_;  // guarded by mutex_
  bool stopping_ = false;        // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace hookgate
