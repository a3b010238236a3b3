#include "store/migrator.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "store_test_support.h"

namespace hookgate {
namespace {

class MigratorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HOOKGATE_REQUIRE_DATABASE();
    database_ = std::make_unique<TestDatabase>(false);
  }
  TestDatabase& database() { return *database_; }
  std::vector<int> run_migrate() {
    Connection connection{database().url(), SessionSettings{}};
    return migrate(connection);
  }

 private:
  std::unique_ptr<TestDatabase> database_;
};

TEST_F(MigratorTest, AppliesEachMigrationOnceAndInOrder) {
  std::vector<int> all;
  for (const auto& migration : embedded_migrations()) all.push_back(migration.version);
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_EQ(run_migrate(), all);
  EXPECT_EQ(run_migrate(), std::vector<int>{});
}

// The order of any other collation can change with the operating system, and then the unique index
// no longer finds what it holds.
TEST_F(MigratorTest, MakesTheDeduplicationIndexCompareBytes) {
  run_migrate();
  EXPECT_EQ(
      database().value(
          "SELECT string_agg(attname || ' ' || collname, ', ' ORDER BY attnum) FROM pg_attribute"
          "  JOIN pg_collation ON pg_collation.oid = attcollation"
          " WHERE attrelid = 'hookgate.events_are_unique'::regclass"),
      "source C, scope C, event_id C");
}

TEST_F(MigratorTest, LetsOneOfManyGatewaysMigrateWhileTheOthersWait) {
  std::atomic<std::size_t> applied = 0;
  std::vector<std::thread> gateways;
  gateways.reserve(6);
  for (int i = 0; i < 6; ++i) gateways.emplace_back([&] { applied += run_migrate().size(); });
  for (auto& gateway : gateways) gateway.join();
  EXPECT_EQ(applied, embedded_migrations().size());
}

TEST_F(MigratorTest, RefusesADatabaseThatIsNewer) {
  run_migrate();
  database().execute(
      "INSERT INTO hookgate.schema_migrations (version, name) VALUES (9999, 'from_the_future')");
  EXPECT_THROW(run_migrate(), SchemaTooNew);
}

TEST_F(MigratorTest, LeavesNothingOfAMigrationThatFails) {
  // Something of ours is in the way: the first migration fails in the middle.
  database().execute("CREATE SCHEMA hookgate");
  database().execute("CREATE TABLE hookgate.conflicts (x integer)");
  EXPECT_THROW(run_migrate(), SqlError);
  EXPECT_EQ(database().value("SELECT to_regclass('hookgate.events') IS NULL"), "t");
  Connection connection{database().url(), SessionSettings{}};
  EXPECT_EQ(schema_state(connection).current, 0);
}

TEST_F(MigratorTest, KnowsAnEmptyDatabaseIsBehind) {
  Connection connection{database().url(), SessionSettings{}};
  EXPECT_FALSE(schema_state(connection).up_to_date());
  migrate(connection);
  EXPECT_TRUE(schema_state(connection).up_to_date());
}

}  // namespace
}  // namespace hookgate
