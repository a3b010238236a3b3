#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "store/binary_records.h"
#include "store/connection.h"
#include "store/event_store.h"

namespace hookgate {

// Parts of a WITH: `incoming`, the events of parameter $1, and `stored`, the ids of those that made
// a new row.
extern const std::string_view kStoreOfferedParts;

// Deliveries as an array of hookgate.offered_event.
BinaryRecords offered_events(Connection& connection, std::span<const Delivery* const> deliveries,
                             std::span<const std::int64_t> ids);
// The same for deliveries that are expected to be duplicates: without ids and bytes.
BinaryRecords suspected_duplicates(Connection& connection, std::span<const Duplicate> suspected);

}  // namespace hookgate
