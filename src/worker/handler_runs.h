#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "domain/handler.h"
#include "telemetry/metrics.h"

namespace hookgate {

// The runs of handlers in one transaction. How they ended is told to the metrics when this goes:
// only then is it known whether their effects are there.
class HandlerRuns {
 public:
  explicit HandlerRuns(Metrics* metrics) : metrics_(metrics) {}
  ~HandlerRuns();
  HandlerRuns(const HandlerRuns&) = delete;
  HandlerRuns& operator=(const HandlerRuns&) = delete;

  // Runs the handler. An exception that escapes it comes out of here; such a run has ended as
  // "error" if `failed` is called for it.
  Outcome run(Handler& handler, const Event& event, HandlerContext& context);
  void failed() { runs_.back().outcome = "error"; }

  // From now on the runs count as what they said; without it they are "undone".
  void committed() { committed_ = true; }

 private:
  struct Run {
    std::string_view handler;
    std::string_view outcome;  // of kRunOutcomes
    std::chrono::nanoseconds took{0};
  };

  Metrics* metrics_;
  std::vector<Run> runs_;
  bool committed_ = false;
};

}  // namespace hookgate
