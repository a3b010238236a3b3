#include "store/database_admin.h"

#include <pqxx/pqxx>

#include "store/connection.h"
#include "store/error_translation.h"

namespace hookgate {

Secret with_database(const Secret& url, const std::string& database) {
  auto values = connection_parameters(url);
  values["dbname"] = database;
  return Secret{connection_string(values)};
}

Secret ensure_database(const Secret& url, const std::string& database, bool fresh) {
  Connection server{with_database(url, "postgres"), SessionSettings{}};
  translate_errors([&] {
    pqxx::nontransaction transaction{server.raw()};
    transaction.exec("SET statement_timeout = 0");
    if (fresh) transaction.exec("DROP DATABASE IF EXISTS " + database + " WITH (FORCE)");
    if (transaction.exec_params("SELECT 1 FROM pg_database WHERE datname = $1", database).empty()) {
      transaction.exec("CREATE DATABASE " + database);
    }
  });
  return with_database(url, database);
}

}  // namespace hookgate
