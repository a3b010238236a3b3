#include "store/connection.h"

#include <chrono>
#include <thread>

#include <pqxx/pqxx>

#include "store/binary_array.h"
#include "store/connection_pool.h"
#include "store/error_translation.h"
#include "store/sql_session.h"
#include "store_test_support.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::string_literals::operator""s;

class ConnectionTest : public StoreTest {
 protected:
  std::string ask(Connection& connection, const std::string& statement) {
    std::string value;
    translate_errors([&] {
      pqxx::nontransaction transaction{connection.raw()};
      value = transaction.exec1(statement)[0].c_str();
    });
    return value;
  }
  void kill_sessions() {
    database().execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid()");
  }
};

TEST_F(ConnectionTest, SetsTheTimeoutsOfItsSession) {
  SessionSettings settings;
  settings.statement_timeout = milliseconds{1234};
  settings.lock_timeout = milliseconds{567};
  Connection own{database().url(), settings};
  EXPECT_EQ(ask(own, "SHOW statement_timeout"), "1234ms");
  EXPECT_EQ(ask(own, "SHOW lock_timeout"), "567ms");
  EXPECT_EQ(ask(own, "SHOW synchronous_commit"), "on");
}

TEST_F(ConnectionTest, EndsAStatementThatTakesTooLong) {
  SessionSettings settings;
  settings.statement_timeout = milliseconds{50};
  Connection own{database().url(), settings};
  EXPECT_THROW(ask(own, "SELECT pg_sleep(60)"), SqlError);
}

// The library would go on silently on a new session, without timeouts and locks.
TEST_F(ConnectionTest, NeverComesBackToLifeAfterItsSessionWasLost) {
  EXPECT_EQ(ask(connection(), "SELECT 1"), "1");
  kill_sessions();
  for (int i = 0; i < 4; ++i) EXPECT_THROW(ask(connection(), "SELECT 1"), StoreUnavailable);
}

TEST_F(ConnectionTest, CallsACommitOfUnknownOutcomeUnavailable) {
  EXPECT_THROW(translate_errors([&] {
                 pqxx::work transaction{connection().raw()};
                 transaction.exec("CREATE TABLE t (x integer)");
                 kill_sessions();
                 transaction.commit();
               }),
               StoreUnavailable);
}

TEST_F(ConnectionTest, NamesNoPasswordWhenItCannotConnect) {
  try {
    Connection nowhere{Secret{"postgresql://u:invented-password@127.0.0.1:1/x"}, SessionSettings{}};
    FAIL() << "connected to nowhere";
  } catch (const StoreUnavailable& error) {
    EXPECT_EQ(std::string{error.what()}.find("invented-password"), std::string::npos);
  }
}

TEST_F(ConnectionTest, TranslatesADeadlockIntoATransientError) {
  try {
    translate_errors([&] {
      pqxx::nontransaction{connection().raw()}.exec("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$");
    });
    FAIL();
  } catch (const SqlError& error) {
    EXPECT_TRUE(error.is_transient());
  }
}

class SqlSessionTest : public ConnectionTest {};

TEST_F(SqlSessionTest, RefusesATextWithANulInsteadOfCuttingIt) {
  pqxx::work transaction{connection().raw()};
  SqlSession session{connection(), transaction};
  EXPECT_THROW(session.execute("SELECT length($1)", {"a\0b"s}), std::invalid_argument);
  EXPECT_THROW(session.execute("SELECT length($1)", {"\xff"s}), std::invalid_argument);
}

TEST_F(SqlSessionTest, CarriesEveryKindOfValue) {
  pqxx::work transaction{connection().raw()};
  SqlSession session{connection(), transaction};
  const auto result = session.execute(
      "SELECT $1::text, $2::bigint, $3::boolean, $4::bytea, $5::text",
      {"it's"s, std::int64_t{-9223372036854775807}, true, Bytes{"\0\xff"s}, nullptr});
  EXPECT_EQ(result.rows.at(0),
            (SqlRow{"it's", "-9223372036854775807", "t", "\\x00ff", std::nullopt}));
}

TEST_F(SqlSessionTest, TellsHowManyRowsChanged) {
  pqxx::work transaction{connection().raw()};
  SqlSession session{connection(), transaction};
  session.execute("CREATE TABLE t (x integer)");
  EXPECT_EQ(session.execute("INSERT INTO t SELECT generate_series(1, 7)").affected_rows, 7U);
}

TEST_F(SqlSessionTest, SendsWhatWasDeferredBeforeTheNextStatement) {
  pqxx::work transaction{connection().raw()};
  SqlSession session{connection(), transaction};
  session.execute("CREATE TABLE t (id bigint, note text, is_new boolean, raw bytea)");
  session.defer(std::chrono::milliseconds{1000});
  const auto note = "it's \\ $1"s;
  session.execute_later("INSERT INTO t VALUES ($1, $2, $3, $4)",
                        std::vector<SqlValue>{std::int64_t{-7}, note, false, Bytes{"\0\xff'"s}});
  session.execute_later("INSERT INTO t (id) VALUES ($1)", std::vector<SqlValue>{nullptr});
  session.execute_later("UPDATE t SET is_new = true", std::vector<SqlValue>{});
  const auto rows = session.execute("SELECT id, note, is_new, raw FROM t ORDER BY id").rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], (SqlRow{"-7", note, "t", "\\x00ff27"}));
  EXPECT_EQ(rows[1], (SqlRow{std::nullopt, std::nullopt, "t", std::nullopt}));
}

TEST_F(SqlSessionTest, TellsOfADeferredFailureWhereItIsSent) {
  pqxx::work transaction{connection().raw()};
  SqlSession session{connection(), transaction};
  session.defer(std::chrono::milliseconds{1000});
  session.execute_later("SELECT 1 / $1::int", std::vector<SqlValue>{std::int64_t{0}});
  EXPECT_THROW(session.flush(), SqlError);
}

TEST_F(SqlSessionTest, SharesTheTimeLimitBetweenWhatIsSentTogether) {
  pqxx::work transaction{connection().raw()};
  SqlSession session{connection(), transaction};
  session.defer(std::chrono::milliseconds{1000});
  for (int i = 0; i < 10; ++i)
    session.execute_later("SELECT pg_sleep(0.001)", std::vector<SqlValue>{});
  session.flush();
  EXPECT_EQ(session.execute("SHOW statement_timeout").rows.at(0), SqlRow{"1s"});
  session.limit_statements(std::chrono::milliseconds{700});
  for (int i = 0; i < 10; ++i)
    session.execute_later("SELECT pg_sleep(0.5)", std::vector<SqlValue>{});
  try {
    session.flush();
    FAIL() << "5 s in one";
  } catch (const SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "57014");
  }
}

TEST_F(SqlSessionTest, KeepsTheLimitOfOtherStatementsOverAFlush) {
  pqxx::work transaction{connection().raw()};
  SqlSession session{connection(), transaction};
  session.defer(std::chrono::milliseconds{1000});
  session.limit_statements(std::chrono::milliseconds{700});
  session.execute_later("SELECT pg_sleep(0.001)", std::vector<SqlValue>{});
  EXPECT_EQ(session.execute("SHOW statement_timeout").rows.at(0), SqlRow{"700ms"});
}

class BinaryArrayTest : public ConnectionTest {};

TEST_F(BinaryArrayTest, IsReadBackExactly) {
  auto texts = BinaryArray::of_text();
  texts.add("zł"s);
  texts.add_null();
  auto bytes = BinaryArray::of_bytea();
  bytes.add("\0\1\xff"s);
  bytes.add(""s);
  auto numbers = BinaryArray::of_bigint();
  numbers.add(std::int64_t{-1});
  numbers.add(std::int64_t{9223372036854775807});
  auto instants = BinaryArray::of_timestamptz();
  instants.add(*parse_instant("2026-01-01T00:00:00.000001Z"));
  instants.add(*parse_instant("1999-12-31T23:59:59Z"));
  pqxx::work transaction{connection().raw()};
  const auto rows = transaction.exec_params(
      "SELECT * FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::timestamptz[])",
      pqxx::binarystring(texts.finish()), pqxx::binarystring(bytes.finish()),
      pqxx::binarystring(numbers.finish()), pqxx::binarystring(instants.finish()));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_STREQ(rows[0][0].c_str(), "zł");
  EXPECT_TRUE(rows[1][0].is_null());
  EXPECT_STREQ(rows[0][1].c_str(), "\\x0001ff");
  EXPECT_STREQ(rows[1][1].c_str(), "\\x");
  EXPECT_EQ(rows[0][2].as<std::int64_t>(), -1);
  EXPECT_EQ(rows[1][2].as<std::int64_t>(), 9223372036854775807);
  EXPECT_STREQ(rows[0][3].c_str(), "2026-01-01 00:00:00.000001+00");
  EXPECT_STREQ(rows[1][3].c_str(), "1999-12-31 23:59:59+00");
}

TEST_F(BinaryArrayTest, WithANulInATextIsRefusedByTheServer) {
  auto texts = BinaryArray::of_text();
  texts.add("a\0b"s);
  pqxx::work transaction{connection().raw()};
  EXPECT_THROW(transaction.exec_params("SELECT * FROM unnest($1::text[])",
                                       pqxx::binarystring(texts.finish())),
               pqxx::sql_error);
}

class ConnectionPoolTest : public ConnectionTest {
 protected:
  std::unique_ptr<ConnectionPool> pool(std::size_t connections_max) {
    PoolSettings settings;
    settings.url = database().url();
    settings.connections_max = connections_max;
    return std::make_unique<ConnectionPool>(settings);
  }
};

TEST_F(ConnectionPoolTest, LendsTheSameSessionAgain) {
  const auto pool = this->pool(2);
  const auto first = ask(*pool->acquire(), "SELECT pg_backend_pid()");
  EXPECT_EQ(ask(*pool->acquire(), "SELECT pg_backend_pid()"), first);
}

TEST_F(ConnectionPoolTest, WaitsForAFreeSessionOnlySoLong) {
  const auto pool = this->pool(1);
  const auto held = pool->acquire();
  EXPECT_THROW(pool->acquire(milliseconds{20}), StoreUnavailable);
}

TEST_F(ConnectionPoolTest, ThrowsAwayASessionThatFailed) {
  const auto pool = this->pool(1);
  const auto first = ask(*pool->acquire(), "SELECT pg_backend_pid()");
  kill_sessions();
  EXPECT_THROW(ask(*pool->acquire(), "SELECT 1"), StoreUnavailable);
  EXPECT_NE(ask(*pool->acquire(), "SELECT pg_backend_pid()"), first);
}

// What hangs between two statements must not keep its locks.
TEST_F(ConnectionTest, TheServerEndsASessionThatIsIdleInATransaction) {
  SessionSettings settings;
  settings.idle_in_transaction_timeout = std::chrono::milliseconds{50};
  Connection hanging{database().url(), settings};
  pqxx::work work{hanging.raw()};
  work.exec("SELECT pg_advisory_xact_lock(4711)");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (database().value("SELECT pg_try_advisory_lock(4711)") != "t" &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_THROW(work.exec("SELECT 1"), pqxx::failure);
}

}  // namespace
}  // namespace hookgate
