#pragma once

#include <memory>
#include <optional>
#include <random>
#include <string>

#include "memory_event_queue.h"
#include "worker/event_runner.h"

namespace hookgate {

// A promise was broken; not a std::exception, so that no handler's guard catches it.
struct Violation {
  std::string what;
};

struct SimulationSettings {
  BrokenRules broken{};
  int crashes_max = 8;
};

// One random schedule of events, handlers, workers and faults, all of it from one seed, on the real
// EventRunner: workers get in each other's way between any two statements, time passes leases,
// processes and sessions die, answers of commits get lost, statements fail, an operator retries and
// discards. Then the faults end, and everything must come to its right end. Throws Violation.
void simulate(std::uint64_t seed, const SimulationSettings& settings = {});

}  // namespace hookgate
