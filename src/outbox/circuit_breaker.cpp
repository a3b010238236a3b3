#include "outbox/circuit_breaker.h"

#include <algorithm>
#include <utility>

namespace hookgate {
namespace {

std::chrono::milliseconds until(CircuitBreaker::TimePoint then, CircuitBreaker::TimePoint now) {
  return std::chrono::ceil<std::chrono::milliseconds>(then - now);
}

}  // namespace

CircuitBreaker::Answer CircuitBreaker::ask(TimePoint now) {
  const std::scoped_lock lock{mutex_};
  if (now < held_until_) return {.wait = until(held_until_, now)};
  if (!is_open_) return {.is_allowed = true};
  if (now < open_until_) return {.wait = until(open_until_, now)};
  if (probe_runs_) return {.wait = settings_.pause_first};
  probe_runs_ = true;
  return {.is_allowed = true, .is_probe = true};
}

void CircuitBreaker::withdraw(const Answer& answer) {
  const std::scoped_lock lock{mutex_};
  if (answer.is_probe) probe_runs_ = false;
}

bool CircuitBreaker::succeeded(const Answer& answer) {
  const std::scoped_lock lock{mutex_};
  if (answer.is_probe) probe_runs_ = false;
  failures_ = 0;
  pause_ = std::chrono::milliseconds{0};
  return std::exchange(is_open_, false);
}

bool CircuitBreaker::failed(const Answer& answer, TimePoint now) {
  const std::scoped_lock lock{mutex_};
  if (answer.is_probe) {
    probe_runs_ = false;
    open(now);
    return false;
  }
  ++failures_;
  // Tries that began before it opened say nothing new.
  if (is_open_ || failures_ < settings_.failures_max) return false;
  open(now);
  return true;
}

void CircuitBreaker::hold(TimePoint until_then) {
  const std::scoped_lock lock{mutex_};
  held_until_ = std::max(held_until_, until_then);
}

void CircuitBreaker::open(TimePoint now) {
  is_open_ = true;
  pause_ = pause_.count() == 0 ? settings_.pause_first : std::min(pause_ * 2, settings_.pause_max);
  open_until_ = now + pause_;
}

}  // namespace hookgate
