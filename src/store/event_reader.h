#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/sql.h"
#include "domain/time.h"
#include "store/connection.h"

namespace hookgate {

// Which events `list` shows; unset fields do not narrow.
struct EventFilter {
  std::optional<std::string> source;
  std::optional<std::string> type;  // a glob: `*` stands for any text
  std::optional<std::string> subject;
  std::optional<std::string> status;
  std::optional<SystemTime> since;  // of received_at, included
  std::optional<SystemTime> until;  // excluded
  std::size_t limit = 50;
};

struct EventRow {
  std::int64_t id = 0;
  std::string source, scope, event_id, event_type, subject, status;
  int attempts = 0;
  int deliveries = 0;
  std::optional<std::string> occurred_at, received_at, done_at, last_error;  // instants as RFC 3339
};

struct StoredBody {
  std::string kind;  // "first", "revision", "conflict"
  std::string received_at;
  std::string head;
  std::string body;
  int item = 0;
};

// The filter but its limit as conditions on columns of hookgate.events, joined by AND, "" for none.
// Their values are added to `parameters`.
std::string event_conditions(const EventFilter& filter, std::vector<SqlValue>& parameters);

// Newest first.
std::vector<EventRow> list_events(Connection& connection, const EventFilter& filter);

// By our id (digits) or by the sender's; several sources may know one of the latter.
std::vector<EventRow> find_events(Connection& connection, const std::string& id);

// The first body (unless retention dropped it) and the other versions.
std::vector<StoredBody> bodies_of(Connection& connection, std::int64_t event);

struct EventCounts {
  std::string source, status;
  std::int64_t events = 0;
  std::int64_t deliveries = 0;
};

std::vector<EventCounts> count_events(Connection& connection);

// Events that a handler is through with, and those of them whose handlers were run more than once:
// again after a failure or a crash, which is harmless, or for another version of the body, which
// only the ledger sees and is not counted here.
struct HandledCounts {
  std::int64_t handled = 0;
  std::int64_t run_again = 0;
};

HandledCounts handled_once(Connection& connection);

}  // namespace hookgate
