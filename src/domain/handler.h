#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/event.h"
#include "domain/outcome.h"
#include "domain/sql.h"
#include "domain/time.h"

namespace hookgate {

// What a handler wants the sender of the request to be told, where somebody waits for it.
struct HandlerAnswer {
  int status = 200;
  std::string body;  // JSON
};

// A handler's configuration does not fit the database. The text begins with the place in the file.
class InvalidHandler : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a handler may use while it runs: the transaction that also marks the event done.
class HandlerContext {
 public:
  HandlerContext(SqlTransaction& sql, SystemTime now, bool wants_answer = false)
      : sql_(sql), now_(now), wants_answer_(wants_answer) {}
  SqlTransaction& sql() { return sql_; }
  SystemTime now() const { return now_; }

  // Whether the sender waits for what this handler answers.
  bool wants_answer() const { return wants_answer_; }
  void set_answer(HandlerAnswer answer) { answer_ = std::move(answer); }
  const std::optional<HandlerAnswer>& answer() const { return answer_; }

 private:
  SqlTransaction& sql_;
  SystemTime now_;
  bool wants_answer_;
  std::optional<HandlerAnswer> answer_;
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

  // Whether `handle` would do more with such an event than ignore it, as far as its type tells.
  virtual bool wants(std::string_view event_type) const {
    (void)event_type;
    return true;
  }

  // Whether the database has what `handle` needs. Throws InvalidHandler, StoreUnavailable; what it
  // writes is undone.
  virtual void check(SqlTransaction& sql) const { (void)sql; }

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
