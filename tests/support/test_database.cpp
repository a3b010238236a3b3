#include "test_database.h"

#include <atomic>
#include <cstdlib>

#include <pqxx/pqxx>
#include <unistd.h>

#include "store/database_admin.h"
#include "store/migrator.h"
#include "store/sql_session.h"

namespace hookgate {
namespace {

std::string server_url() {
  const char* url = std::getenv("HOOKGATE_TEST_DATABASE");
  return url == nullptr ? "" : url;
}

std::string url_of(const std::string& name) {
  return with_database(Secret{server_url()}, name).reveal();
}

void on_server(const std::string& statement) {
  pqxx::connection connection{url_of("postgres")};
  pqxx::nontransaction{connection}.exec(statement);
}

// One migrated template a server, whoever needs it first; copying it takes a third of migrating.
std::string migrated_template() {
  const auto latest = std::to_string(embedded_migrations().back().version);
  std::size_t hash = 0;
  for (const auto& migration : embedded_migrations())
    hash = hash * 31 + std::hash<std::string>{}(migration.sql);
  auto name = "hookgate_template_" + latest + "_" + std::to_string(hash);
  pqxx::connection connection{url_of("postgres")};
  pqxx::nontransaction transaction{connection};
  transaction.exec("SELECT pg_advisory_lock(4242)");
  if (transaction.exec_params("SELECT 1 FROM pg_database WHERE datname = $1", name).empty()) {
    const auto draft = name + "_draft";
    transaction.exec("DROP DATABASE IF EXISTS " + draft);
    transaction.exec("CREATE DATABASE " + draft);
    {
      Connection migrating{Secret{url_of(draft)}, SessionSettings{}};
      migrate(migrating);
    }
    transaction.exec("ALTER DATABASE " + draft + " RENAME TO " + name);
  }
  transaction.exec("SELECT pg_advisory_unlock(4242)");
  return name;
}

}  // namespace

bool TestDatabase::is_available() {
  return !server_url().empty();
}

TestDatabase::TestDatabase(bool migrated) {
  static std::atomic<int> counter = 0;
  name_ = "hookgate_test_" + std::to_string(::getpid()) + "_" + std::to_string(++counter);
  url_ = Secret{url_of(name_)};
  on_server("CREATE DATABASE " + name_ + (migrated ? " TEMPLATE " + migrated_template() : ""));
}

TestDatabase::~TestDatabase() {
  try {
    on_server("DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
  } catch (const std::exception&) {
    // The server is going away with everything in it.
  }
}

SqlResult TestDatabase::execute(const std::string& statement) {
  Connection connection{url_, {}};
  pqxx::nontransaction transaction{connection.raw()};
  return SqlSession{connection, transaction}.execute(statement);
}

std::int64_t TestDatabase::count(const std::string& table_and_where) {
  return std::stoll(value("SELECT count(*) FROM " + table_and_where));
}

std::string TestDatabase::value(const std::string& statement) {
  const auto result = execute(statement);
  return result.rows.at(0).at(0).value_or("NULL");
}

}  // namespace hookgate
