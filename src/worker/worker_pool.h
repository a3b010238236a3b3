#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace hookgate {

struct WorkerPoolSettings {
  int threads = 4;
  std::chrono::milliseconds poll_interval{1'000};  // the net under a lost wake-up
  std::chrono::milliseconds pause_when_away{500};  // after the database failed
};

// Threads that run batches of events until none is left, then wait to be woken.
class WorkerPool {
 public:
  // `run_once` claims and runs one batch and returns how many events it had.
  WorkerPool(std::function<std::size_t()> run_once, WorkerPoolSettings settings);
  ~WorkerPool() { stop(); }

  void start();
  // Waits for running handlers. Idempotent; before start() is fine.
  void stop() noexcept;
  // Events were stored. Any thread.
  void wake();

 private:
  void run(const std::stop_token& stop);
  void pause(const std::stop_token& stop, std::chrono::milliseconds limit);

  const std::function<std::size_t()> run_once_;
  const WorkerPoolSettings settings_;
  std::mutex mutex_;
  std::uint64_t wakes_ = 0;  // guarded by mutex_
  std::condition_variable_any wakeup_;
  std::vector<std::jthread> threads_;  // last: joined before anything they use is destroyed
};

}  // namespace hookgate
