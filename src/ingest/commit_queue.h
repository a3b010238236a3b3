#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "store/connection_pool.h"
#include "store/event_store.h"
#include "telemetry/metrics.h"

namespace hookgate {

struct CommitQueueSettings {
  int writers = 2;
  std::size_t requests_max = 4'096;             // waiting; more are refused
  std::size_t bytes_max = 256UL * 1024 * 1024;  // of waiting bodies
  std::size_t batch_events_max = 256;           // per statement
  std::size_t batch_bytes_max = 8UL * 1024 * 1024;
  // After a failed connect, requests are answered at once for this long instead of each waiting
  // for another failure.
  std::chrono::milliseconds retry_pause{200};
  Metrics* metrics = nullptr;  // outlives the queue; null: nothing is observed
};

// What became of one request's deliveries, in their order; nothing when the database was away or
// the outcome is unknown (the sender must send again; a row that landed makes that a duplicate).
using CommitResult = std::optional<std::vector<StoreResult>>;

// Group commit. Request threads hand over their deliveries and go on or wait; each writer takes all
// that wait, writes them with one statement, and tells the requests once it is committed. There is
// no artificial delay: batches grow with the load by themselves.
class CommitQueue {
 public:
  using Completion = std::function<void(CommitResult)>;

  // `on_stored` is called by a writer after a commit that made new events.
  CommitQueue(ConnectionPool& pool, CommitQueueSettings settings, std::function<void()> on_stored);
  ~CommitQueue();

  void start();
  // Finishes what was submitted, then ends the writers. Idempotent; before start() is fine.
  void stop() noexcept;

  // False when the queue is full or stopped: nothing was taken and `done` is never called.
  // Otherwise `done` is called exactly once, by a writer thread; it must be quick. Any thread.
  [[nodiscard]] bool submit(std::vector<Delivery> deliveries, Completion done);

  // While one lives, submitting wakes no writer: whoever submits several at once has them written
  // together. Any thread; not for longer than it takes to submit them.
  class Burst {
   public:
    explicit Burst(CommitQueue& queue) : queue_(queue) { queue_.bursts_ += 1; }
    ~Burst() { queue_.end_burst(); }
    Burst(const Burst&) = delete;
    Burst& operator=(const Burst&) = delete;

   private:
    CommitQueue& queue_;
  };

 private:
  struct Job {
    std::vector<Delivery> deliveries;
    std::size_t bytes = 0;
    Completion done;
    std::chrono::steady_clock::time_point submitted_at;
  };

  void run();
  void end_burst();
  std::vector<Job> take();
  bool write(EventStore& store, std::vector<Job>& jobs);
  void observe_wait(const std::vector<Job>& jobs) const;
  void observe_commit(std::size_t requests, std::size_t events,
                      std::chrono::steady_clock::duration took) const;
  void notify_other_processes(ConnectionPool::Lease& lease);

  ConnectionPool& pool_;
  const CommitQueueSettings settings_;
  const std::function<void()> on_stored_;

  std::atomic<int> bursts_ = 0;
  std::mutex mutex_;
  std::condition_variable submitted_;
  std::deque<Job> jobs_;                                                 // guarded by mutex_
  std::size_t waiting_bytes_ = 0;                                        // guarded by mutex_
  bool stopping_ = false;                                                // guarded by mutex_
  std::chrono::steady_clock::time_point database_away_until_{};          // guarded by mutex_
  std::chrono::steady_clock::time_point notified_at_{};                  // guarded by mutex_
  std::shared_ptr<RecentKeys> recent_ = std::make_shared<RecentKeys>();  // of all writers
  std::vector<std::thread> writers_;
};

}  // namespace hookgate
