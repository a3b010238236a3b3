#include "store/migrator.h"

#include <pqxx/pqxx>

#include "store/error_translation.h"

namespace hookgate {
namespace {

// Any constant of our own; it must only be the same in every gateway.
constexpr std::int64_t kMigrationLock = 0x686f6f6b67617465;  // "hookgate"

constexpr auto kEnsureSchema = R"sql(
  CREATE SCHEMA IF NOT EXISTS hookgate;
  CREATE TABLE IF NOT EXISTS hookgate.schema_migrations (
    version    integer     PRIMARY KEY,
    name       text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  );
)sql";

int highest_applied(pqxx::transaction_base& transaction) {
  const auto exists =
      transaction.exec1("SELECT to_regclass('hookgate.schema_migrations') IS NOT NULL");
  if (!exists[0].as<bool>()) return 0;
  return transaction.exec1("SELECT coalesce(max(version), 0) FROM hookgate.schema_migrations")[0]
      .as<int>();
}

int latest_known() {
  return embedded_migrations().empty() ? 0 : embedded_migrations().back().version;
}

void refuse_newer(int current) {
  if (current <= latest_known()) return;
  throw SchemaTooNew("the database has schema version " + std::to_string(current) +
                     ", this program knows up to " + std::to_string(latest_known()) +
                     "; run a newer hookgate");
}

std::vector<int> apply_missing(pqxx::connection_base& connection) {
  std::vector<int> applied;
  for (const auto& migration : embedded_migrations()) {
    pqxx::work transaction{connection};
    const int current = highest_applied(transaction);
    refuse_newer(current);
    if (migration.version <= current) continue;
    transaction.exec(migration.sql);
    transaction.exec_params0(
        "INSERT INTO hookgate.schema_migrations (version, name) VALUES ($1, $2)", migration.version,
        migration.name);
    transaction.commit();
    applied.push_back(migration.version);
  }
  return applied;
}

}  // namespace

SchemaState schema_state(Connection& connection) {
  SchemaState state;
  state.latest = latest_known();
  translate_errors([&] {
    pqxx::read_transaction transaction{connection.raw()};
    state.current = highest_applied(transaction);
  });
  return state;
}

std::vector<int> migrate(Connection& connection) {
  std::vector<int> applied;
  translate_errors([&] {
    auto& raw = connection.raw();
    const auto run = [&](const std::string& statement) {
      pqxx::nontransaction{raw}.exec(statement);
    };
    // Another gateway may be migrating for minutes: wait for it, whatever the session's limits are.
    run("SET statement_timeout = 0");
    run("SET lock_timeout = 0");
    run("SELECT pg_advisory_lock(" + std::to_string(kMigrationLock) + ")");
    {
      pqxx::work transaction{raw};
      refuse_newer(highest_applied(transaction));
      transaction.exec(kEnsureSchema);
      transaction.commit();
    }
    applied = apply_missing(raw);
    run("SELECT pg_advisory_unlock(" + std::to_string(kMigrationLock) + ")");
  });
  return applied;
}

}  // namespace hookgate
