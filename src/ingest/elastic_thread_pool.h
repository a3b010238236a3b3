#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hookgate {

// Threads for work that may block for long (a connection each): starts one more when none is idle,
// up to a limit; past it the work waits. Threads live until shutdown.
class ElasticThreadPool {
 public:
  explicit ElasticThreadPool(std::size_t threads_max) : threads_max_(threads_max) {}
  ~ElasticThreadPool() { shutdown(); }

  // Any thread. Work given after shutdown() is dropped.
  void enqueue(std::function<void()> work);
  // Runs what waits, then ends the threads. Idempotent.
  void shutdown();

 private:
  void run();

  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_
  std::vector<std::thread> threads_;           // guarded by mutex_
  std::size_t idle_ = 0;                       // guarded by mutex_
  bool stopping_ = false;                      // guarded by mutex_
};

}  // namespace hookgate
