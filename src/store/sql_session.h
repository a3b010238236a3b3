#pragma once

#include <string>
#include <string_view>

#include "domain/sql.h"

namespace pqxx {
class transaction_base;
}

namespace hookgate {

// SqlTransaction over a transaction of the client library.
class SqlSession final : public SqlTransaction {
 public:
  explicit SqlSession(pqxx::transaction_base& transaction) : transaction_(transaction) {}

  using SqlTransaction::execute;
  SqlResult execute(std::string_view statement, std::span<const SqlValue> parameters) override;

 private:
  pqxx::transaction_base& transaction_;
};

}  // namespace hookgate
