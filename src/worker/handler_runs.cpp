#include "worker/handler_runs.h"

#include <variant>

namespace hookgate {
namespace {

std::string_view word_of(const Outcome& outcome) {
  if (std::holds_alternative<Done>(outcome)) return "done";
  if (std::holds_alternative<Ignored>(outcome)) return "ignored";
  if (std::holds_alternative<RetryLater>(outcome)) return "retry";
  return "gave_up";
}

}  // namespace

HandlerRuns::~HandlerRuns() {
  if (metrics_ == nullptr) return;
  for (const auto& run : runs_) {
    metrics_->handler_run(run.handler, committed_ ? run.outcome : "undone", run.took);
  }
}

Outcome HandlerRuns::run(Handler& handler, const Event& event, HandlerContext& context) {
  using SteadyClock = std::chrono::steady_clock;
  // Takes the time also when the handler throws.
  struct Timer {
    explicit Timer(Run& timed) : run(timed) {}
    ~Timer() { run.took = SteadyClock::now() - began; }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    Run& run;
    const SteadyClock::time_point began = SteadyClock::now();
  };
  auto& run = runs_.emplace_back(Run{handler.name(), "undone", {}});
  const Timer timer{run};
  auto outcome = handler.handle(event, context);
  run.outcome = word_of(outcome);
  return outcome;
}

}  // namespace hookgate
