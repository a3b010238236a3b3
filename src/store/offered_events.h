#pragma once

#include <cstdint>
#include <span>

#include "store/binary_records.h"
#include "store/connection.h"
#include "store/event_store.h"

namespace hookgate {

// Deliveries as an array of hookgate.offered_event.
BinaryRecords offered_events(Connection& connection, std::span<const Delivery* const> deliveries,
                             std::span<const std::int64_t> ids);
// The same for deliveries that are expected to be duplicates: without ids and bytes.
BinaryRecords suspected_duplicates(Connection& connection, std::span<const Duplicate> suspected);

}  // namespace hookgate
