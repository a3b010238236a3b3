#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/event.h"
#include "domain/outcome.h"
#include "domain/sql.h"
#include "domain/time.h"

namespace hookgate {

// What a handler may use while it runs: the transaction that also marks the event done.
class HandlerContext {
 public:
  HandlerContext(SqlTransaction& sql, SystemTime now) : sql_(sql), now_(now) {}
  SqlTransaction& sql() { return sql_; }
  SystemTime now() const { return now_; }

 private:
  SqlTransaction& sql_;
  SystemTime now_;
};

// A reaction to events. It must be safe to run for the same fact again, under another event id and
// in any order: key its writes on the data itself. It opens no socket. Called from several worker
// threads at once, each with its own event and transaction. An exception counts as RetryLater.
class Handler {
 public:
  virtual ~Handler() = default;

  // The configured name; recorded with an event when the handler has succeeded for it.
  virtual std::string_view name() const = 0;

  virtual Outcome handle(const Event& event, HandlerContext& context) = 0;

  // Whether it is run again, with `event.versions`, when another body arrives under an event's id.
  virtual bool sees_versions() const { return false; }

  // Names of what `handle` will lock for this event. The worker takes these locks for a whole batch
  // in one order first, so that two batches cannot deadlock. Must not throw; may be empty.
  virtual std::vector<std::string> lock_keys(const Event& event) const {
    (void)event;
    return {};
  }
};

}  // namespace hookgate
