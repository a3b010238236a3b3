#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "store/connection.h"

namespace hookgate {

struct Migration {
  int version;
  std::string name;
  std::string sql;
};

// The migrations built into this program, by version. Released ones never change.
const std::vector<Migration>& embedded_migrations();

// The database's schema is newer than this program: it must not write to it.
class SchemaTooNew : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SchemaState {
  int current = 0;  // highest applied version; 0 for none
  int latest = 0;   // highest this program knows
  bool up_to_date() const { return current == latest; }
};

SchemaState schema_state(Connection& connection);

// Applies what is missing, each migration in its own transaction, under an advisory lock, so that
// several gateways may start at once. Returns the versions applied by this call.
// Throws SchemaTooNew, SqlError, StoreUnavailable.
std::vector<int> migrate(Connection& connection);

}  // namespace hookgate
