#include "store/retention.h"

#include "store_test_support.h"

namespace hookgate {
namespace {

using std::chrono::hours;

class RetentionTest : public StoreTest {
 protected:
  static SystemTime day(const std::string& text) { return *parse_instant(text + "T12:00:00Z"); }
  static Delivery delivery_on(const std::string& id, const std::string& date) {
    auto delivery = a_delivery(id);
    auto request = *delivery.request;
    request.received_at = day(date);
    delivery.request = std::make_shared<Delivery::Request>(request);
    return delivery;
  }
  PruneResult run_prune(const std::string& date) {
    const std::vector<KeyRetention> keys{{"stripe", hours{24 * 35}}};
    return prune(connection(), day(date), hours{24 * 30}, keys);
  }
  std::string partitions() {
    return database().value(
        "SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class "
        "WHERE relname LIKE 'event_bodies_2%' AND relkind = 'r'");
  }
  void settle() { database().execute("UPDATE hookgate.events SET status = 'done'"); }
};

TEST_F(RetentionTest, MakesThePartitionsOfTheComingDaysOnce) {
  ensure_body_partitions(connection(), day("2026-01-30"), 2);
  ensure_body_partitions(connection(), day("2026-01-30"), 2);
  EXPECT_EQ(partitions(), "event_bodies_20260130,event_bodies_20260131,event_bodies_20260201");
  record_one(delivery_on("evt_1", "2026-01-31"));
  EXPECT_EQ(database().count("hookgate.event_bodies_20260131"), 1);
}

TEST_F(RetentionTest, KeepsADayInTheDefaultPartitionThatHasRowsThere) {
  record_one(delivery_on("evt_1", "2026-01-30"));
  ensure_body_partitions(connection(), day("2026-01-30"), 0);
  EXPECT_EQ(database().count("hookgate.event_bodies WHERE day = '2026-01-30'"), 1);
}

TEST_F(RetentionTest, DropsOldDaysAndKeepsTheirKeys) {
  ensure_body_partitions(connection(), day("2026-01-01"), 0);
  record_one(delivery_on("evt_1", "2026-01-01"));
  settle();
  EXPECT_EQ(run_prune("2026-02-02").days_dropped, 1U);
  EXPECT_EQ(database().count("hookgate.event_bodies"), 0);
  EXPECT_EQ(record_one(delivery_on("evt_1", "2026-02-02")), StoreResult::kDuplicate);
}

TEST_F(RetentionTest, KeepsTheBytesOfEventsThatAreNotSettled) {
  ensure_body_partitions(connection(), day("2026-01-01"), 0);
  record({delivery_on("evt_done", "2026-01-01"), delivery_on("evt_dead", "2026-01-01")});
  database().execute("UPDATE hookgate.events SET status = substring(event_id FROM 5)");
  EXPECT_EQ(run_prune("2026-02-02").days_dropped, 0U);
  EXPECT_EQ(database().count("hookgate.event_bodies"), 1);
}

TEST_F(RetentionTest, DeletesAKeyAfterItsRetentionFromTheLastSighting) {
  record_one(delivery_on("evt_1", "2026-01-01"));
  settle();
  record_one(delivery_on("evt_1", "2026-01-20"));
  EXPECT_EQ(run_prune("2026-02-20").events_deleted, 0U);
  EXPECT_EQ(run_prune("2026-02-25").events_deleted, 1U);
  EXPECT_EQ(record_one(delivery_on("evt_1", "2026-02-25")), StoreResult::kAccepted);
}

TEST_F(RetentionTest, NeverDeletesTheKeyOfAnEventThatStillWaitsOrFailed) {
  record({delivery_on("evt_pending", "2026-01-01"), delivery_on("evt_dead", "2026-01-01")});
  database().execute("UPDATE hookgate.events SET status = substring(event_id FROM 5)");
  EXPECT_EQ(run_prune("2030-01-01").events_deleted, 0U);
}

TEST_F(RetentionTest, LeavesKeysOfOtherSourcesAlone) {
  record_one(delivery_on("evt_1", "2026-01-01"));
  settle();
  const std::vector<KeyRetention> keys{{"another", hours{1}}};
  EXPECT_EQ(prune(connection(), day("2027-01-01"), hours{1}, keys).events_deleted, 0U);
}

}  // namespace
}  // namespace hookgate
