#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <pqxx/row>

#include "store/event_store.h"

namespace hookgate {

// Further parts of a WITH that has `suspected`, rows of hookgate.offered_event with their
// ordinality. They find the rows that these are of, and count the deliveries. Rows that a worker or
// another writer holds now are not counted, or the statement could deadlock with it.
extern const std::string_view kCountKnownParts;
// What such a statement selects: ordinal, id, same content, same signed content, is counted.
extern const std::string_view kSelectKnown;
// Takes a row of that to the duplicate it tells of.
void read_known(const pqxx::row& row, std::span<Duplicate> suspected);

// Judges duplicates: counts those that are not counted yet, and keeps other content beside the
// first (signed: conflict; unsigned: revision) and has the event looked at again by handlers that
// see versions. Nothing for one whose row is gone. Throws StoreUnavailable.
std::vector<std::optional<StoreResult>> judge_duplicates(Connection& connection,
                                                         std::vector<Duplicate> duplicates);

}  // namespace hookgate
