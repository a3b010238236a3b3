#include "admin/backlog_gauges.h"

#include <exception>
#include <optional>
#include <utility>

namespace hookgate {

BacklogGauges::BacklogGauges(Metrics& metrics, std::function<Metrics::Backlog()> read,
                             BacklogSettings settings)
    : metrics_(metrics), read_(std::move(read)), settings_(settings) {}

void BacklogGauges::start() {
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void BacklogGauges::stop() noexcept {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void BacklogGauges::refresh() {
  std::unique_lock lock{mutex_};
  const auto now = SteadyClock::now();
  if (!reading_ && (!finished_at_ || now - *finished_at_ >= settings_.age_max)) {
    reading_ = true;
    wanted_since_ = now;
    wanted_.notify_one();
  }
  // From when it was wanted: a database that hangs costs the first scrape the wait, not each.
  const bool in_time =
      finished_.wait_until(lock, wanted_since_ + settings_.wait_max, [this] { return !reading_; });
  if (!in_time) metrics_.clear_backlog();
}

void BacklogGauges::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock{mutex_};
      if (!wanted_.wait(lock, stop, [this] { return reading_; })) return;
    }
    read();
  }
}

void BacklogGauges::read() {
  std::optional<Metrics::Backlog> backlog;
  try {
    backlog = read_();
  } catch (const std::exception&) {
    // Who works with the database logs its absence; here it shows as NaN.
  }
  {
    const std::scoped_lock lock{mutex_};
    backlog ? metrics_.set_backlog(*backlog) : metrics_.clear_backlog();
    reading_ = false;
    finished_at_ = SteadyClock::now();
  }
  finished_.notify_all();
}

}  // namespace hookgate
