#pragma once

#include <chrono>
#include <mutex>

namespace hookgate {

struct BreakerSettings {
  int failures_max = 5;  // one after the other; then it opens
  std::chrono::milliseconds pause_first{5'000};
  std::chrono::milliseconds pause_max{60'000};  // it doubles with every probe that fails
};

// Whether a destination may be tried now. Closed: yes. After `failures_max` failures in a row it
// opens: no, for a pause; then one try is let through as a probe, whose success closes it. Any
// success closes it. While it is open nothing is claimed, so that waiting messages do not use up
// their tries on a receiver that is away. Any thread.
class CircuitBreaker {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit CircuitBreaker(BreakerSettings settings) : settings_(settings) {}

  struct Answer {
    bool is_allowed = false;
    bool is_probe = false;
    std::chrono::milliseconds wait{0};  // when not allowed: ask again after this
  };
  // A caller that is allowed must call one of the three below, with this answer.
  Answer ask(TimePoint now);
  void withdraw(const Answer& answer);               // nothing was tried after all
  bool succeeded(const Answer& answer);              // true when this closed it
  bool failed(const Answer& answer, TimePoint now);  // true when this opened it

  // The receiver asked for a pause (429 or 503 with Retry-After); no try before `until`.
  void hold(TimePoint until);

 private:
  void open(TimePoint now);

  const BreakerSettings settings_;
  std::mutex mutex_;
  int failures_ = 0;  // all guarded by mutex_
  bool is_open_ = false;
  bool probe_runs_ = false;
  std::chrono::milliseconds pause_{0};
  TimePoint open_until_{};
  TimePoint held_until_{};
};

}  // namespace hookgate
