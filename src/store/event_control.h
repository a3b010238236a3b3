#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "store/connection.h"
#include "store/event_reader.h"

namespace hookgate {

// EventFilter::limit for all that match.
inline constexpr auto kEveryEvent =
    static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());

// Which events an operator means: those named, narrowed by the filter.
struct EventSelection {
  std::vector<std::string> ids;  // ours (digits) or the sender's; empty: all that the filter takes
  EventFilter filter;            // `limit` counts from the oldest; it is not used with ids
};

// An event that was named and that the filter takes, but whose state does not allow what was asked.
struct RefusedEvent {
  std::int64_t id = 0;
  std::string source, event_id;
  std::string reason;
};

struct ControlResult {
  std::size_t events = 0;                // changed, or that would be
  std::vector<RefusedEvent> refused;     // only with ids
  std::vector<std::string> unknown_ids;  // no event the filter takes is called so
};

struct RetryOptions {
  bool force = false;  // `done` and `ignored` events too
  bool dry_run = false;
};

// Makes events pending and due now, with fresh budgets of failures and crashes, and wakes the
// gateways. Handlers that have succeeded for an event are not run for it again; those that gave up
// are.
//
// By id: dead, discarded, and pending events that wait for their next try. By filter: those in
// filter.status, which is `dead` unless set. Done and ignored events need `force`: then the
// handlers run that are not through with them, those that were added since, and those that ignored
// them. An event that a worker runs at the moment is left alone.
//
// Works in short transactions of a bounded number of events, oldest first, so that an error leaves
// those done that were done. Any number of callers may do it at once. Throws StoreUnavailable,
// SqlError; std::invalid_argument when filter.status is `done` or `ignored` without `force`.
ControlResult retry_events(Connection& connection, const EventSelection& selection,
                           const RetryOptions& options);

// Makes pending and dead events discarded: no handler runs for them any more, and their redelivery
// stays a duplicate. One that a worker runs at the moment is taken from it: the run's effects are
// undone, because its fencing token no longer fits. Only a retry by id or by status brings them
// back. The rest as retry_events; std::invalid_argument for any other filter.status.
ControlResult discard_events(Connection& connection, const EventSelection& selection, bool dry_run);

}  // namespace hookgate
