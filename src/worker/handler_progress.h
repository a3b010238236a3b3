#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "domain/handler.h"
#include "store/event_queue.h"

namespace hookgate {

// Which handlers are through with an event, and what the event becomes when all have run.
class HandlerProgress {
 public:
  explicit HandlerProgress(const ClaimedEvent& claimed);

  // A handler that sees versions is through with as many of them as it was shown.
  bool is_finished(const Handler& handler) const;
  void record(const Handler& handler, Outcome outcome);

  // Any handler to be retried: pending, with `delay(failures)`, until `failures_max`; else any that
  // gave up: dead; else done, or ignored when no handler ever wanted it.
  FinishedEvent result(int failures_max,
                       const std::function<std::chrono::milliseconds(int failures)>& delay) const;

 private:
  std::string key(const Handler& handler) const;

  std::int64_t id_;
  int failures_;
  int versions_;
  std::set<std::string> finished_;  // "name", "name@versions"; "name!" gave up, "name?" ignored it
  std::string retry_reason_;
  std::string give_up_reason_;
};

}  // namespace hookgate
