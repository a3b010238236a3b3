#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "domain/http_message.h"

namespace hookgate {

// A whole request on its way from a connection to the receiver.
struct RequestJob {
  std::uint64_t connection = 0;
  std::uint64_t sequence = 0;  // of the request on its connection
  InboundRequest request;
  std::chrono::steady_clock::time_point whole_at;  // when its last byte was read
};

// A bounded queue and the few threads that empty it.
//
// Large bodies, of which a forger can send as many as they like, must not keep the usual ones
// waiting or use up their room: they have a lane of their own, which gets every fourth turn, and
// three quarters of the bytes.
class RequestWorkers {
 public:
  struct Limits {
    std::size_t requests_max = 0;
    std::size_t bytes_max = 0;  // of their bodies
  };

  // `work` must not throw.
  RequestWorkers(int threads, Limits limits, std::function<void(RequestJob)> work);
  ~RequestWorkers() { stop(); }

  void start();
  // Finishes what was queued, then ends the threads. Idempotent.
  void stop() noexcept;

  // Makes room for a request with that many bytes; false when there is none. One thread calls this
  // and `push`.
  bool reserve(std::size_t bytes);
  static constexpr std::size_t kLargeBytes = 64UL * 1024;  // a body from this size on is large
  // Takes all of them, each with room reserved, and leaves `jobs` empty.
  void push(std::vector<RequestJob>& jobs);

 private:
  void run();
  bool take(std::vector<RequestJob>& jobs);
  std::deque<RequestJob>& next_lane();

  const int thread_count_;
  const Limits limits_;
  const std::function<void(RequestJob)> work_;
  std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<RequestJob> usual_;  // guarded by mutex_
  std::deque<RequestJob> large_;  // guarded by mutex_
  unsigned turn_ = 0;             // guarded by mutex_
  int sleeping_ = 0;              // guarded by mutex_
  bool stopping_ = false;         // guarded by mutex_
  // What was reserved and not taken yet.
  std::atomic<std::size_t> requests_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace hookgate
