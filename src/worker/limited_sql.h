#pragma once

#include <chrono>
#include <functional>

#include "domain/sql.h"
#include "store/event_queue.h"

namespace hookgate {

using SteadyClock = std::function<std::chrono::steady_clock::time_point()>;

// The SQL of a handler under the time limit of its run. The session's own statement_timeout is that
// limit, so a handler that is quick to ask costs nothing more; one that has used up a good part of
// it has only the rest for its next statement, and none for a statement after the end: SqlError
// 57014.
class LimitedSql final : public SqlTransaction {
 public:
  LimitedSql(EventTransaction& transaction, std::chrono::milliseconds limit, SteadyClock clock);

  // A handler's run begins.
  void begin();
  // It is over: what follows has the whole limit again. Not in a transaction that has failed.
  void end();

  SqlResult execute(std::string_view statement, std::span<const SqlValue> parameters) override;
  void execute_later(std::string_view statement, std::span<const SqlValue> parameters) override;
  using SqlTransaction::execute;

 private:
  void limit_next();

  EventTransaction& transaction_;
  const std::chrono::milliseconds limit_;
  const SteadyClock clock_;
  std::chrono::steady_clock::time_point began_{};
  std::chrono::milliseconds current_;  // limit of a statement at the moment
};

}  // namespace hookgate
