#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "telemetry/metrics.h"

namespace hookgate {

struct BacklogSettings {
  std::chrono::milliseconds age_max{1'000};   // younger figures are not read again
  std::chrono::milliseconds wait_max{1'000};  // of a scrape, for figures
};

// Brings the backlog gauges up to date for a scrape without letting the scrape hang: the database
// is read on a thread of its own, and figures that do not come in time are NaN.
class BacklogGauges {
 public:
  // `read` throws when the database is away. It may take long; then it is not called again before
  // it is back. The metrics outlive this object.
  BacklogGauges(Metrics& metrics, std::function<Metrics::Backlog()> read,
                BacklogSettings settings = {});

  void start();
  void stop() noexcept;  // waits for a read under way; idempotent
  // Returns when the gauges say what is known now, within `wait_max`. Any thread, after start().
  void refresh();

 private:
  using SteadyClock = std::chrono::steady_clock;

  void run(const std::stop_token& stop);
  void read();

  Metrics& metrics_;
  const std::function<Metrics::Backlog()> read_;
  const BacklogSettings settings_;
  std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::condition_variable finished_;
  bool reading_ = false;                                // guarded by mutex_
  SteadyClock::time_point wanted_since_{};              // guarded by mutex_
  std::optional<SteadyClock::time_point> finished_at_;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace hookgate
