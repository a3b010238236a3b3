#pragma once

#include <string>

#include "domain/secret.h"
#include "domain/sql.h"
#include "store/connection.h"

namespace hookgate {

// A database of its own for one test, made from the server that HOOKGATE_TEST_DATABASE names and
// dropped with the object. Without that variable the test is skipped (failed under CI=true): see
// HOOKGATE_REQUIRE_DATABASE.
class TestDatabase {
 public:
  // `migrated`: with the schema; copied from a template that is made once per run.
  explicit TestDatabase(bool migrated = true);
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  const Secret& url() const { return url_; }
  // Runs statements on a session of its own.
  SqlResult execute(const std::string& statement);
  std::int64_t count(const std::string& table_and_where);
  std::string value(
      const std::string& statement);  // first column of the first row; "NULL" for NULL

  static bool is_available();

 private:
  std::string name_;
  Secret url_;
};

}  // namespace hookgate

// First line of SetUp() of tests that need the server.
#define HOOKGATE_REQUIRE_DATABASE()                                                              \
  if (!::hookgate::TestDatabase::is_available()) {                                               \
    if (std::getenv("CI") != nullptr) FAIL() << "HOOKGATE_TEST_DATABASE is not set";             \
    GTEST_SKIP() << "needs a PostgreSQL server: set HOOKGATE_TEST_DATABASE (scripts/test does)"; \
  }
