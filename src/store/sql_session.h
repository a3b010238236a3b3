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

 private:
  Connection& connection_;
  pqxx::transaction_base& transaction_;
};

}  // namespace hookgate
