#include "outbox/relay.h"

#include <algorithm>
#include <exception>
#include <random>
#include <utility>

#include "domain/text.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kReasonBytesMax = 500;

std::uint64_t random_bits() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return random();
}

std::string_view word_of(const TryOutcome& outcome, const SendResult& result) {
  if (result.kind == SendResult::Kind::kAborted) return "aborted";
  if (outcome.status == TryOutcome::Status::kSent) return "sent";
  return outcome.status == TryOutcome::Status::kDead ? "dead" : "failed";
}

}  // namespace

Relay::Relay(ConnectionPool& claims, ConnectionPool& records, std::unique_ptr<MessageSender> sender,
             RelaySettings settings)
    : claims_(claims),
      records_(records),
      sender_(std::move(sender)),
      settings_(std::move(settings)),
      breaker_(settings_.breaker) {}

Relay::~Relay() {
  stop(SteadyClock::now());
}

Relay::Step Relay::run_once(const std::stop_token& abort) {
  const auto answer = breaker_.ask(SteadyClock::now());
  if (!answer.is_allowed) return {.wait = std::min(answer.wait, settings_.poll_interval)};
  std::optional<ClaimedMessage> claimed;
  try {
    claimed = claim();
  } catch (...) {
    breaker_.withdraw(answer);
    throw;
  }
  if (!claimed) {
    breaker_.withdraw(answer);
    return {.wait = settings_.poll_interval};
  }
  wake();  // there may be more, for another thread
  if (claimed->attempts > settings_.attempts_max) {
    breaker_.withdraw(answer);
    record({claimed->id,
            claimed->token,
            TryOutcome::Status::kDead,
            {},
            "no try is left, and what came of the last one is not known"},
           "dead");
    return {.sent = true};
  }
  const auto result = try_message(*claimed, abort);
  tell_breaker(answer, result);
  const auto outcome = outcome_of(*claimed, result);
  record(outcome, word_of(outcome, result));
  return {.sent = true};
}

std::optional<ClaimedMessage> Relay::claim() {
  MessageClaim claim;
  claim.destination = settings_.destination;
  claim.lease = sender_->time_limit() + settings_.lease_slack;
  claim.ordered = settings_.ordered;
  claim.instance = settings_.instance;
  auto lease = claims_.acquire();
  return claim_message(*lease, claim);
}

SendResult Relay::try_message(const ClaimedMessage& claimed,
                              const std::stop_token& abort) noexcept {
  try {
    return sender_->send(claimed.message, abort);
  } catch (const std::exception& error) {
    SendResult result;
    result.reason = std::string{"the sender failed: "} + error.what();
    return result;
  }
}

void Relay::tell_breaker(const CircuitBreaker::Answer& answer, const SendResult& result) {
  const auto now = SteadyClock::now();
  switch (result.kind) {
    case SendResult::Kind::kAborted: breaker_.withdraw(answer); return;
    case SendResult::Kind::kDelivered:
      if (breaker_.succeeded(answer)) {
        log(LogLevel::kInfo, "destination takes messages again",
            {{"destination", settings_.destination}});
      }
      return;
    case SendResult::Kind::kFailed: break;
  }
  if (result.retry_after) breaker_.hold(now + *result.retry_after);
  if (breaker_.failed(answer, now)) {
    log(LogLevel::kWarn, "destination fails, it is tried seldom for now",
        {{"destination", settings_.destination}, {"reason", result.reason}});
  }
}

TryOutcome Relay::outcome_of(const ClaimedMessage& claimed, const SendResult& result) const {
  TryOutcome outcome;
  outcome.id = claimed.id;
  outcome.token = claimed.token;
  if (result.kind == SendResult::Kind::kDelivered) return outcome;
  outcome.status = TryOutcome::Status::kRetry;
  outcome.last_error = clean_text(result.reason, kReasonBytesMax);
  if (result.kind == SendResult::Kind::kAborted) return outcome;  // due at once
  if (claimed.attempts >= settings_.attempts_max) {
    outcome.status = TryOutcome::Status::kDead;
    return outcome;
  }
  outcome.retry_after = std::max(backoff_delay(settings_.backoff, claimed.attempts, random_bits()),
                                 result.retry_after.value_or(std::chrono::milliseconds{0}));
  return outcome;
}

void Relay::record(const TryOutcome& outcome, std::string_view word) {
  const bool is_recorded = record_with_retries(outcome);
  if (settings_.metrics != nullptr)
    settings_.metrics->outbox_send(settings_.destination, is_recorded ? word : "lost");
  if (!is_recorded) {
    log(LogLevel::kWarn, "outcome of a message not recorded, its key may be sent again",
        {{"destination", settings_.destination}, {"id", outcome.id}, {"outcome", word}});
  } else if (outcome.status == TryOutcome::Status::kDead) {
    log(LogLevel::kError, "message is dead",
        {{"destination", settings_.destination},
         {"id", outcome.id},
         {"reason", outcome.last_error}});
  }
}

// Repeating is safe where a commit's fate is unknown: the token is gone once it was recorded. False
// then too, although it is.
bool Relay::record_with_retries(const TryOutcome& outcome) {
  for (int attempt = 1;; ++attempt) {
    try {
      auto lease = records_.acquire();
      return record_try(*lease, outcome);
    } catch (const std::exception& error) {
      if (attempt >= settings_.record_tries_max || abort_.stop_requested()) {
        tell_database(true, error.what());
        return false;
      }
    }
    std::this_thread::sleep_for(settings_.record_pause * attempt);
  }
}

void Relay::start() {
  const std::scoped_lock lock{mutex_};
  for (int i = 0; i < settings_.concurrency; ++i) {
    ++running_;
    threads_.emplace_back([this](const std::stop_token& stop) {
      run(stop);
      const std::scoped_lock ending{mutex_};
      --running_;
      ended_.notify_all();
    });
  }
}

void Relay::wake() {
  {
    const std::scoped_lock lock{mutex_};
    ++wakes_;
  }
  // One is enough: who finds a message wakes the next before it sends.
  wakeup_.notify_one();
}

void Relay::request_stop() noexcept {
  for (auto& thread : threads_) thread.request_stop();
}

void Relay::stop(SteadyClock::time_point deadline) noexcept {
  request_stop();
  {
    std::unique_lock lock{mutex_};
    ended_.wait_until(lock, deadline, [this] { return running_ == 0; });
  }
  abort_.request_stop();
  threads_.clear();
}

void Relay::run(const std::stop_token& stop) {
  std::uint64_t seen = 0;
  while (!stop.stop_requested()) {
    auto pause = settings_.pause_when_away;
    {
      const std::scoped_lock lock{mutex_};
      seen = wakes_;
    }
    try {
      const auto step = run_once(abort_.get_token());
      tell_database(false, "");
      if (step.sent) continue;
      pause = step.wait;
    } catch (const std::exception& error) {
      tell_database(true, error.what());
    }
    rest(stop, seen, pause);
  }
}

// Of the threads that have nothing to do one looks again after `limit`; the others wait to be
// woken.
void Relay::rest(const std::stop_token& stop, std::uint64_t seen, std::chrono::milliseconds limit) {
  std::unique_lock lock{mutex_};
  const auto is_woken = [&] { return wakes_ != seen; };
  if (somebody_polls_) {
    wakeup_.wait(lock, stop, is_woken);
    return;
  }
  somebody_polls_ = true;
  wakeup_.wait_for(lock, stop, limit, is_woken);
  somebody_polls_ = false;
}

// One line when it goes and one when it comes back, not one for every try.
void Relay::tell_database(bool is_away, std::string_view reason) {
  {
    const std::scoped_lock lock{mutex_};
    if (std::exchange(database_away_, is_away) == is_away) return;
  }
  if (is_away) {
    log(LogLevel::kError, "outbox cannot reach the database",
        {{"destination", settings_.destination}, {"reason", reason}});
  } else {
    log(LogLevel::kInfo, "outbox reaches the database again",
        {{"destination", settings_.destination}});
  }
}

}  // namespace hookgate
