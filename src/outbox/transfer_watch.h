#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace hookgate {

// One connection's present exchange, as its watch sees it. The HTTP client knows a limit for each
// read and write only, and none at all for the head of an answer; this one is for the whole, so a
// receiver that sends a byte a second is cut like a silent one.
class Transfer {
 public:
  enum class Cut { kNone, kDeadline, kAborted, kTooMuch };
  struct Limits {
    std::chrono::steady_clock::time_point deadline;
    std::stop_token abort;
    std::uint64_t received_bytes_max = 0;
  };

  Transfer() = default;
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // The socket of the connection that is being made. A duplicate is kept, because the client closes
  // its own whenever it likes and the number may be another file's a moment later.
  void adopt(int socket);
  void begin(Limits limits);
  // Why it was cut, if it was.
  Cut end();
  // Ends what goes over the socket if a limit is reached. Called by the watch.
  void check(std::chrono::steady_clock::time_point now);
  bool adopted_since_begin() const;

 private:
  std::uint64_t received_bytes() const;

  mutable std::mutex mutex_;
  int socket_ = -1;  // all guarded by mutex_
  bool adopted_ = false;
  bool runs_ = false;
  Limits limits_{};
  std::uint64_t received_before_ = 0;
  Cut cut_ = Cut::kNone;
};

// Looks at every running transfer some fifty times a second, on a thread of its own that sleeps
// while there is none.
class TransferWatch {
 public:
  TransferWatch();
  ~TransferWatch();

  void enter(Transfer& transfer);
  void leave(Transfer& transfer);

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::vector<Transfer*> running_;  // guarded by mutex_
  std::condition_variable_any entered_;
  std::jthread thread_;  // last
};

}  // namespace hookgate
