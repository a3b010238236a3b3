#pragma once

#include <optional>
#include <span>
#include <vector>

#include "store/event_store.h"

namespace hookgate {

// Judges deliveries whose event we already had: counts those that are not counted yet, and keeps
// other content beside the first (signed: conflict; unsigned: revision) and has the event looked at
// again by handlers that see versions. Nothing for one whose row is gone meanwhile. Throws
// StoreUnavailable.
std::vector<std::optional<StoreResult>> judge_duplicates(Connection& connection,
                                                         std::span<const Duplicate> duplicates);

}  // namespace hookgate
