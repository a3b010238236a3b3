#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "store/event_queue.h"

namespace hookgate {

// The process ends here: nothing of it runs any further, and nobody may catch this.
struct ProcessCrash {};

// A row of hookgate.events, as far as the queue goes.
struct MemoryEvent {
  std::int64_t id = 0;
  std::string source, subject;
  std::string status = "pending";
  std::chrono::milliseconds due_at{0};
  std::int64_t claim_token = 0;  // 0: NULL
  int attempts = 0, failures = 0, crashes = 0;
  std::string finished;
  std::string last_error;
};

// What one handler wrote for one event.
struct MemoryEffect {
  std::int64_t event = 0;
  std::string handler;
  auto operator<=>(const MemoryEffect&) const = default;
};

// Rules of the store that a test switches off, to see that the simulation misses them.
struct BrokenRules {
  bool token_is_not_checked = false;
  bool rollback_keeps_effects = false;
  bool crashes_are_not_counted = false;
  bool claims_ignore_leases = false;
};

// The queue of store/event_queue.h in memory, by the rules of its SQL: what a transaction writes is
// seen by nobody until it commits; `finish` locks its rows until then, and claims pass over locked
// rows; a failed statement spoils the transaction until a savepoint is rolled back. One thread, so
// where PostgreSQL would wait for a lock, this one has waited in vain (55P03).
class MemoryEventQueue final : public EventQueue {
 public:
  // Called wherever another session could get between two statements, with the name of the place.
  // May throw StoreUnavailable, SqlError, ProcessCrash, or run somebody else's work.
  using Interruption = std::function<void(std::string_view place)>;
  // Called with what a commit is about to make true, before it does.
  using CommitWatch =
      std::function<void(const std::vector<FinishedEvent>&, const std::vector<MemoryEffect>&)>;

  MemoryEventQueue(std::mt19937_64& random, BrokenRules broken)
      : random_(random), broken_(broken) {}

  std::vector<ClaimedEvent> claim(const ClaimOptions& options) override;
  std::vector<ClaimedEvent> claim_expired(const ClaimOptions& options) override;
  std::vector<std::int64_t> renew(std::int64_t token, std::span<const std::int64_t> ids,
                                  std::chrono::milliseconds lease) override;
  void load_versions(ClaimedEvent&) override {}
  void transact(const std::function<void(EventTransaction&)>& work) override;

  // What store/event_control does to one event; false where it refuses, or would wait for a row.
  bool retry(std::int64_t id);
  bool discard(std::int64_t id);

  std::map<std::int64_t, MemoryEvent> events;
  std::vector<MemoryEffect> effects;  // committed ones
  std::chrono::milliseconds now{0};   // the database's clock
  Interruption interruption = [](std::string_view) {};
  CommitWatch commit_watch = [](const auto&, const auto&) {};

 private:
  class Transaction;

  std::vector<ClaimedEvent> take(std::vector<MemoryEvent*> due, std::size_t count,
                                 const ClaimOptions& options);
  std::vector<MemoryEvent*> due_of(const ClaimOptions& options, bool held);

  std::mt19937_64& random_;
  const BrokenRules broken_;
  std::set<std::int64_t> locked_rows_;
  std::set<std::string> locked_names_;
};

// What a handler of the simulation may execute: one effect (of event $1 by handler $2), or nothing.
// Any other statement is taken for an SQLSTATE to fail with.
inline constexpr std::string_view kWriteEffect = "INSERT";
inline constexpr std::string_view kReadOnly = "SELECT";

}  // namespace hookgate
