#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "domain/event.h"
#include "store/connection.h"

namespace hookgate {

// An event that this process may run until its lease ends.
struct ClaimedEvent {
  Event event;                // body filled; versions only by load_versions
  std::int64_t token = 0;     // fencing token: `finish` works only while the row still carries it
  int failures = 0;           // runs so far in which a handler failed
  int crashes = 0;            // claims of it whose lease expired
  int versions = 0;           // other bodies known when it was claimed
  std::string finished;       // comma-separated names of handlers that are through with it
  bool body_missing = false;  // retention dropped the bytes
};

// How a run of a claimed event ended; the next state of its row.
struct FinishedEvent {
  enum class Status { kDone, kIgnored, kDead, kRetry };
  std::int64_t id = 0;
  Status status = Status::kDone;
  std::string finished;    // handlers that are through with it now
  std::string last_error;  // "" clears it
  std::chrono::milliseconds retry_after{0};
  int versions_seen = 0;  // from the claim: more by now means it is pending again
  bool failed = false;    // counts against the budget of failures
};

struct ClaimOptions {
  std::size_t events_max = 50;
  std::chrono::milliseconds lease{20'000};
  std::span<const std::string> sources;  // only theirs
  std::size_t first_source = 0;          // who is asked first when there are more than events_max
  std::int32_t instance = 0;             // who claims; see Presence
};

// An id for a process that claims, other than any other's in all likelihood; at least 1.
std::int32_t fresh_instance();

// Shows that a process lives: a lock that its session holds, and that the server lets go with it.
void show_presence(Connection& connection, std::int32_t instance);

// Ends the leases of processes that are gone, so that what they held is run at once and not only
// when the lease would have ended. Returns how many events that were.
std::size_t release_claims_of_the_gone(Connection& connection);

// Takes pending, due events that nobody holds. Each source that has some gets an equal share of the
// batch, in the order they fell due; what is left of it goes to whoever has more. Sorted by
// subject. Its commit may be lost in a crash of the server, which only makes them claimable again.
std::vector<ClaimedEvent> claim_events(Connection& connection, const ClaimOptions& options);

// Takes one event whose lease expired. It runs alone, so that an event that kills the process does
// not drag its neighbours along.
std::vector<ClaimedEvent> claim_expired(Connection& connection, const ClaimOptions& options);

// Lets the leases of those events begin anew that still carry the token; returns their ids.
std::vector<std::int64_t> renew_leases(Connection& connection, std::int64_t token,
                                       std::span<const std::int64_t> ids,
                                       std::chrono::milliseconds lease);

// Fills event.versions with the other bodies under its id, oldest first.
void load_versions(Connection& connection, ClaimedEvent& claimed);

// One transaction that runs handlers and marks events.
class EventTransaction {
 public:
  virtual ~EventTransaction() = default;
  virtual SqlTransaction& sql() = 0;
  // From now on sql().execute_later() may wait until something else is asked for: for work whose
  // failure need not be told from its neighbours'. What is sent together takes at
  // most `limit`; statements that need more than their share of it fail.
  virtual void defer(std::chrono::milliseconds limit) = 0;
  // Takes transaction-long locks by name, in one order for everybody.
  virtual void lock(std::span<const std::string> names) = 0;
  virtual void savepoint() = 0;
  virtual void release_savepoint() = 0;
  virtual void rollback_to_savepoint() = 0;
  // How long each statement may take from here to the end of the transaction, or of the savepoint
  // that is rolled back; then it fails with SQLSTATE 57014.
  virtual void limit_statements(std::chrono::milliseconds limit) = 0;
  // Writes the outcomes; returns how many rows still carried the token. Fewer than given means a
  // late worker: the caller must not commit.
  virtual std::size_t finish(std::int64_t token, std::span<const FinishedEvent> events) = 0;
  virtual void commit() = 0;
};

// Runs `work` in a transaction, which is rolled back unless it called commit().
// Throws what `work` throws, and StoreUnavailable when the session is lost.
void in_event_transaction(Connection& connection,
                          const std::function<void(EventTransaction&)>& work);

// The queue as a worker sees it: the functions above, on sessions that it need not know. In
// production it is PostgreSQL (pooled_event_queue.h); a simulation runs the same worker on one in
// memory. All may throw StoreUnavailable.
class EventQueue {
 public:
  virtual ~EventQueue() = default;
  virtual std::vector<ClaimedEvent> claim(const ClaimOptions& options) = 0;
  virtual std::vector<ClaimedEvent> claim_expired(const ClaimOptions& options) = 0;
  virtual std::vector<std::int64_t> renew(std::int64_t token, std::span<const std::int64_t> ids,
                                          std::chrono::milliseconds lease) = 0;
  virtual void load_versions(ClaimedEvent& claimed) = 0;
  virtual void transact(const std::function<void(EventTransaction&)>& work) = 0;
};

}  // namespace hookgate
