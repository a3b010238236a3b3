#pragma once

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
  // trip each, statements of a batch take half the time.
  void defer() { is_deferring_ = true; }
  void flush();

 private:
  Connection& connection_;
  pqxx::transaction_base& transaction_;
  bool is_deferring_ = false;
  std::string deferred_;  // EXECUTE statements
};

}  // namespace hookgate
