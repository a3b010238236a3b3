#pragma once

#include <chrono>
#include <span>
#include <string>

#include "domain/time.h"
#include "store/connection.h"

namespace hookgate {

// Makes the partitions of event_bodies for `today` (UTC) and the days after it that are missing.
// A day that already has rows in the default partition keeps them there and gets none of its own.
void ensure_body_partitions(Connection& connection, SystemTime today, int days_ahead = 3);

struct KeyRetention {
  std::string source;
  std::chrono::hours retain{};  // of the key, from the last delivery
};

struct PruneResult {
  std::size_t days_dropped = 0;
  std::size_t bodies_deleted = 0;  // conflicts and revisions included
  std::size_t events_deleted = 0;
  std::size_t messages_deleted = 0;  // of the outbox
};

// Drops bodies received more than `bodies` before `now`, but keeps those that an operator may need
// (events pending or dead), and deletes the keys of finished events last seen longer ago than their
// source's `retain`, at most `events_max` of them, re-checked under their row lock so that a
// delivery that arrives meanwhile stays a duplicate. Outgoing messages go like bodies, from the
// time they were sent or discarded.
PruneResult prune(Connection& connection, SystemTime now, std::chrono::hours bodies,
                  std::span<const KeyRetention> keys, std::size_t events_max = 1000);

}  // namespace hookgate
