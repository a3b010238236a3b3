#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "domain/backoff.h"
#include "outbox/circuit_breaker.h"
#include "outbox/message_sender.h"
#include "store/connection_pool.h"
#include "telemetry/metrics.h"

namespace hookgate {

struct RelaySettings {
  std::string destination;
  int concurrency = 4;    // tries at once, each on a thread
  int attempts_max = 20;  // then dead
  bool ordered = false;
  std::chrono::milliseconds lease_slack{15'000};  // beyond the sender's time limit, to record in
  // With 20 tries: four days at most, two on average.
  BackoffPolicy backoff{std::chrono::seconds{5}, std::chrono::hours{12}};
  BreakerSettings breaker{};
  std::chrono::milliseconds poll_interval{1'000};  // the net under a lost wake-up; also for retries
  std::chrono::milliseconds pause_when_away{500};  // after the database failed
  int record_tries_max = 5;                        // to write down how a try ended
  std::chrono::milliseconds record_pause{200};     // between these
  std::int32_t instance = 0;                       // of this process
  Metrics* metrics = nullptr;                      // outlives the relay; null: nothing is counted
};

// Sends the messages of one destination, on threads that no other destination shares. A message is
// claimed for a lease and counted as tried, sent, and marked, guarded by the claim's token: what is
// cut off in between is sent again under the same key. No transaction is open while it is sent.
class Relay {
 public:
  // Of `claims` a session may be without synchronous_commit; of `records` not. Both outlive it.
  Relay(ConnectionPool& claims, ConnectionPool& records, std::unique_ptr<MessageSender> sender,
        RelaySettings settings);
  ~Relay();

  struct Step {
    bool sent = false;                  // a message was claimed, whatever came of it
    std::chrono::milliseconds wait{0};  // when not: how long to rest
  };
  // Claims and sends one message, if one is due and the circuit breaker allows it.
  // Throws StoreUnavailable, SqlError.
  Step run_once(const std::stop_token& abort = {});

  void start();
  void wake();  // a message was written; any thread
  // Nothing is claimed any more; what is being sent goes on.
  void request_stop() noexcept;
  // Waits until `deadline` for what is being sent, then cuts it off, and ends. Idempotent.
  void stop(std::chrono::steady_clock::time_point deadline) noexcept;

 private:
  void run(const std::stop_token& stop);
  void rest(const std::stop_token& stop, std::uint64_t seen, std::chrono::milliseconds limit);
  std::optional<ClaimedMessage> claim();
  SendResult try_message(const ClaimedMessage& claimed, const std::stop_token& abort) noexcept;
  void tell_breaker(const CircuitBreaker::Answer& answer, const SendResult& result);
  TryOutcome outcome_of(const ClaimedMessage& claimed, const SendResult& result) const;
  void record(const TryOutcome& outcome, std::string_view word);
  bool record_with_retries(const TryOutcome& outcome);
  void tell_database(bool is_away, std::string_view reason);

  ConnectionPool& claims_;
  ConnectionPool& records_;
  const std::unique_ptr<MessageSender> sender_;
  const RelaySettings settings_;
  CircuitBreaker breaker_;
  std::stop_source abort_;
  std::mutex mutex_;
  std::uint64_t wakes_ = 0;      // guarded by mutex_
  bool somebody_polls_ = false;  // guarded by mutex_
  bool database_away_ = false;   // guarded by mutex_
  int running_ = 0;              // guarded by mutex_; threads
  std::condition_variable_any wakeup_;
  std::condition_variable ended_;
  std::vector<std::jthread> threads_;  // last: joined before anything they use is destroyed
};

}  // namespace hookgate
