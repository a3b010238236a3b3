#include "worker/handler_progress.h"

#include <algorithm>

#include "domain/text.h"

namespace hookgate {
namespace {

constexpr std::size_t kReasonBytesMax = 500;

// The words of a finished entry's last character.
constexpr char kGaveUp = '!';
constexpr char kIgnored = '?';

std::string reason_of(const Handler& handler, const std::string& reason) {
  return clean_text(std::string{handler.name()} + ": " + reason, kReasonBytesMax);
}

}  // namespace

HandlerProgress::HandlerProgress(const ClaimedEvent& claimed)
    : id_(claimed.event.id), failures_(claimed.failures), versions_(claimed.versions) {
  std::string name;
  for (const char c : claimed.finished + ",") {
    if (c != ',') {
      name += c;
    } else if (!name.empty()) {
      finished_.insert(std::exchange(name, {}));
    }
  }
}

std::string HandlerProgress::key(const Handler& handler) const {
  std::string key{handler.name()};
  if (handler.sees_versions() && versions_ > 0) key += "@" + std::to_string(versions_);
  return key;
}

bool HandlerProgress::is_finished(const Handler& handler) const {
  const auto name = key(handler);
  return finished_.contains(name) || finished_.contains(name + kGaveUp) ||
         finished_.contains(name + kIgnored);
}

void HandlerProgress::record(const Handler& handler, Outcome outcome) {
  if (const auto* retry = std::get_if<RetryLater>(&outcome)) {
    retry_reason_ = reason_of(handler, retry->reason);
    return;
  }
  auto name = key(handler);
  if (const auto* give_up = std::get_if<GiveUp>(&outcome)) {
    give_up_reason_ = reason_of(handler, give_up->reason);
    name += kGaveUp;
  } else if (std::holds_alternative<Ignored>(outcome)) {
    name += kIgnored;
  }
  finished_.insert(name);
}

FinishedEvent HandlerProgress::result(
    int failures_max, const std::function<std::chrono::milliseconds(int)>& delay) const {
  FinishedEvent event;
  event.id = id_;
  event.versions_seen = versions_;
  for (const auto& name : finished_) event.finished += (event.finished.empty() ? "" : ",") + name;
  const auto ends_with = [](char mark) {
    return [mark](const std::string& name) { return name.ends_with(mark); };
  };
  if (!retry_reason_.empty()) {
    event.failed = true;
    event.last_error = retry_reason_;
    const int failures = failures_ + 1;
    if (failures >= failures_max) {
      event.status = FinishedEvent::Status::kDead;
    } else {
      event.status = FinishedEvent::Status::kRetry;
      event.retry_after = delay(failures);
    }
  } else if (std::ranges::any_of(finished_, ends_with(kGaveUp))) {
    event.status = FinishedEvent::Status::kDead;
    event.last_error =
        give_up_reason_.empty() ? "a handler gave up in an earlier run" : give_up_reason_;
  } else if (std::ranges::all_of(finished_, ends_with(kIgnored))) {
    event.status = FinishedEvent::Status::kIgnored;
  }
  return event;
}

}  // namespace hookgate
