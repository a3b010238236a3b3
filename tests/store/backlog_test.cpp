#include "store/backlog.h"

#include <gtest/gtest.h>

#include "test_database.h"

namespace hookgate {
namespace {

class BacklogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HOOKGATE_REQUIRE_DATABASE();
    database_ = std::make_unique<TestDatabase>();
    connection_ = std::make_unique<Connection>(database_->url(), SessionSettings{});
  }
  // Events from..to, that arrived an hour ago.
  void store(const std::string& status, int from, int to) {
    database_->execute(
        "INSERT INTO hookgate.events (id, received_at, last_seen_at, source, scope, event_id, "
        "event_type, subject, content, signed_content, status) SELECT i, now() - interval '1 "
        "hour', "
        "now(), 'stripe', '', 'evt_' || i, 't', 's', '', '', '" +
        status + "' FROM generate_series(" + std::to_string(from) + ", " + std::to_string(to) +
        ") i");
  }
  Metrics::Backlog backlog() { return read_backlog(*connection_); }
  TestDatabase& database() { return *database_; }

 private:
  std::unique_ptr<TestDatabase> database_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(BacklogTest, IsNothingInAnEmptyDatabase) {
  EXPECT_EQ(backlog().events_pending, 0U);
  EXPECT_EQ(backlog().oldest_pending_seconds, 0);
  EXPECT_EQ(backlog().events_dead, 0U);
}

TEST_F(BacklogTest, CountsWhatIsPendingAndDeadAndNothingElse) {
  store("done", 1, 50);
  store("ignored", 51, 60);
  store("pending", 61, 67);
  store("dead", 68, 70);
  EXPECT_EQ(backlog().events_pending, 7U);
  EXPECT_NEAR(backlog().oldest_pending_seconds, 3600, 30);
  EXPECT_EQ(backlog().events_dead, 3U);
}

TEST_F(BacklogTest, TakesTheAgeOfAnEventThatWaitsForItsNextTry) {
  store("pending", 1, 1);
  database().execute("UPDATE hookgate.events SET due_at = now() + interval '1 hour'");
  EXPECT_NEAR(backlog().oldest_pending_seconds, 3600, 30);
}

TEST_F(BacklogTest, IsNeverOlderThanNothingWhenAGatewaysClockIsAhead) {
  store("pending", 1, 1);
  database().execute("UPDATE hookgate.events SET received_at = now() + interval '1 hour'");
  EXPECT_EQ(backlog().oldest_pending_seconds, 0);
}

TEST_F(BacklogTest, CountsTheMessagesThatAreNotSent) {
  database().execute(
      "INSERT INTO hookgate.outbox (destination, idempotency_key, event, subject, event_type, "
      "content_type, body, status) SELECT 'crm', i::text, i, '', 't', 't', '', (ARRAY['pending', "
      "'pending', 'sent', 'dead', 'discarded'])[i] FROM generate_series(1, 5) i");
  EXPECT_EQ(backlog().outbox_pending, 2U);
}

// The index goes by source: the oldest may be anywhere in it, and what a worker holds is elsewhere.
TEST_F(BacklogTest, FindsTheOldestOfAnySourceAndOfWhatIsClaimed) {
  store("pending", 1, 12'002);
  database().execute(
      "UPDATE hookgate.events SET source = 'zeta', received_at = now() - interval '2 hours' WHERE "
      "id = 12001");
  EXPECT_NEAR(backlog().oldest_pending_seconds, 7200, 30);
  database().execute(
      "UPDATE hookgate.events SET claim_token = 7, received_at = now() - interval '3 hours' WHERE "
      "id = 12002");
  EXPECT_NEAR(backlog().oldest_pending_seconds, 10800, 30);
  EXPECT_EQ(backlog().events_pending, 12'002U);
}

TEST_F(BacklogTest, EstimatesWhatWouldTakeLongToCount) {
  store("pending", 1, 120'000);
  EXPECT_EQ(backlog().events_pending, 100'000U);
  database().execute("ANALYZE hookgate.events");
  EXPECT_NEAR(static_cast<double>(backlog().events_pending), 120'000, 12'000);
}

}  // namespace
}  // namespace hookgate
