#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "config.h"
#include "domain/time.h"
#include "outbox/outbox.h"
#include "telemetry/metrics.h"
#include "worker/event_runner.h"

namespace hookgate {

// The senders of the handlers that write to the outbox. None where there is no such handler, and
// none in a process without workers, which only receives.
std::unique_ptr<Outbox> make_outbox(const Config& config, const Clock& clock, std::int32_t instance,
                                    Metrics& metrics);

// Runs a batch of events and wakes the senders when its handlers wrote messages.
std::size_t run_events(EventRunner& runner, Outbox& outbox);

}  // namespace hookgate
