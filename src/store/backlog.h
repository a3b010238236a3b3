#pragma once

#include "store/connection.h"
#include "telemetry/metrics.h"

namespace hookgate {

// What waits in the database. Costs the same however many events are done: only the partial indexes
// of pending and dead events and of unsent messages are read, and at most 100,000 entries of each.
// Beyond that the counts are what PostgreSQL last estimated, and the age is that of the oldest
// among the first 100,000 due. Throws StoreUnavailable, SqlError.
Metrics::Backlog read_backlog(Connection& connection);

}  // namespace hookgate
