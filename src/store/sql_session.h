#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "domain/sql.h"
#include "store/connection.h"

namespace pqxx {
class transaction_base;
}

namespace hookgate {

// SqlTransaction over a transaction of the client library. Statements are prepared once a session.
class SqlSession final : public SqlTransaction {
 public:
  SqlSession(Connection& connection, pqxx::transaction_base& transaction)
      : connection_(connection), transaction_(transaction) {}

  using SqlTransaction::execute;
  SqlResult execute(std::string_view statement, std::span<const SqlValue> parameters) override;
  void execute_later(std::string_view statement, std::span<const SqlValue> parameters) override;

  // From now on execute_later() only notes what is to be done; `flush` sends it. Without a round
  // trip each, statements of a batch take half the time. All that one flush sends takes at most
  // `limit`, of which each statement has its share; one that takes longer fails with 57014.
  void defer(std::chrono::milliseconds limit);
  void flush();
  // Of one statement that is not put off, until the transaction's end.
  void limit_statements(std::chrono::milliseconds limit);

 private:
  Connection& connection_;
  pqxx::transaction_base& transaction_;
  std::optional<std::chrono::milliseconds> deferred_limit_{};  // empty: nothing is put off
  std::chrono::milliseconds statement_limit_{0};
  std::string deferred_;  // EXECUTE statements
  int deferred_count_ = 0;
};

}  // namespace hookgate
