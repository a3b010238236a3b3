#include "store/event_queue.h"

#include <algorithm>
#include <map>

#include <pqxx/pqxx>

#include "store_test_support.h"

namespace hookgate {
namespace {

class EventQueueTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    SessionSettings settings;
    settings.goes_by_index = true;
    claims_ = std::make_unique<Connection>(database().url(), settings);
  }

  // `count` pending events of a source, the first of them due `age_s` ago.
  void have(const std::string& source, int count, int age_s) {
    database().execute(
        "INSERT INTO hookgate.events (id, received_at, last_seen_at, due_at, source, scope, "
        "event_id, event_type, subject, content, signed_content) SELECT "
        "nextval('hookgate.event_ids'), now(), now(), now() - interval '" +
        std::to_string(age_s) + " s' + n * interval '1 us', '" + source +
        "', '', 'e' || n, 't', 's' || n, '', '' FROM generate_series(1, " + std::to_string(count) +
        ") AS n");
  }

  // How many events of each source one claim takes.
  std::map<std::string, int> claim(const std::vector<std::string>& sources,
                                   std::size_t first_source = 0) {
    ClaimOptions options;
    options.sources = sources;
    options.first_source = first_source;
    std::map<std::string, int> counts;
    for (const auto& claimed : claim_events(claims(), options)) ++counts[claimed.event.source];
    return counts;
  }

  Connection& claims() { return *claims_; }

  std::string plan_of(const std::string& prepared) {
    std::string plan;
    pqxx::nontransaction transaction{claims().raw()};
    for (const auto& row :
         transaction.exec("EXPLAIN EXECUTE " + prepared + " ('{flood,quiet}', 50, 7, 20000, 25)"))
      plan += std::string{row[0].c_str()} + "\n";
    return plan;
  }

 private:
  std::unique_ptr<Connection> claims_;
};

using Counts = std::map<std::string, int>;

TEST_F(EventQueueTest, AFloodOfOneSourceDoesNotKeepAnotherWaiting) {
  have("flood", 100'000, 3'600);
  have("quiet", 2, 1);
  EXPECT_EQ(claim({"calm", "flood", "quiet", "silent"}), (Counts{{"flood", 48}, {"quiet", 2}}));
}

TEST_F(EventQueueTest, OneSourceMayHaveTheWholeBatchWhenTheOthersHaveNothing) {
  have("flood", 120, 3'600);
  const std::vector<std::string> sources{"calm", "flood", "silent"};
  EXPECT_EQ(claim(sources), (Counts{{"flood", 50}}));
  EXPECT_EQ(claim(sources), (Counts{{"flood", 50}}));
  EXPECT_EQ(claim(sources), (Counts{{"flood", 20}}));
  EXPECT_EQ(claim(sources), Counts{});
}

TEST_F(EventQueueTest, SharesABatchEquallyBetweenFloods) {
  have("a", 500, 3'600);
  have("b", 500, 60);
  EXPECT_EQ(claim({"a", "b"}), (Counts{{"a", 25}, {"b", 25}}));
}

TEST_F(EventQueueTest, EachSourceHasItsTurnWhenThereAreMoreThanABatchTakes) {
  std::vector<std::string> sources;
  for (int i = 0; i < 60; ++i) {
    sources.push_back("s" + std::to_string(i));
    have(sources.back(), 5, 60);
  }
  auto counts = claim(sources, 20);
  EXPECT_EQ(counts.size(), 50U);
  EXPECT_FALSE(counts.contains("s10") || counts.contains("s19"));
  counts = claim(sources, 10);
  EXPECT_TRUE(counts.contains("s10") && counts.contains("s19"));
}

TEST_F(EventQueueTest, TakesTheOldestOfASourceFirstAndNoneThatIsNotDue) {
  have("a", 3, 60);
  database().execute(
      "UPDATE hookgate.events SET due_at = now() + interval '1 hour' WHERE event_id = "
      "'e1'");
  have("b", 1, 0);
  database().execute("UPDATE hookgate.events SET event_id = 'young' WHERE source = 'b'");
  database().execute("UPDATE hookgate.events SET source = 'a'");
  ClaimOptions options;
  const std::vector<std::string> sources{"a"};
  options.sources = sources;
  options.events_max = 1;
  std::vector<std::string> order;
  for (int i = 0; i < 4; ++i) {
    for (const auto& claimed : claim_events(claims(), options))
      order.push_back(claimed.event.event_id);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"e2", "e3", "young"}));
}

TEST_F(EventQueueTest, PassesOverEventsThatAnotherSessionHasLocked) {
  have("a", 60, 60);
  pqxx::connection other{database().url().reveal()};
  pqxx::work holding{other};
  holding.exec("SELECT 1 FROM hookgate.events ORDER BY due_at, id LIMIT 30 FOR UPDATE");
  EXPECT_EQ(claim({"a"}), (Counts{{"a", 30}}));
}

TEST_F(EventQueueTest, ReadsNothingButIndexes) {
  have("flood", 2'000, 60);
  claim({"flood", "quiet"});
  ClaimOptions options;
  const std::vector<std::string> sources{"flood"};
  options.sources = sources;
  claim_expired(claims(), options);
  const auto due = plan_of("claim_due");
  EXPECT_NE(due.find("Index Scan using events_waiting"), std::string::npos) << due;
  const auto expired = plan_of("claim_expired");
  EXPECT_NE(expired.find("Index Scan using events_claimed"), std::string::npos) << expired;
  for (const auto& plan : {due, expired}) {
    EXPECT_EQ(plan.find("Seq Scan"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("Bitmap"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("Sort"), std::string::npos) << plan;
  }
}

TEST_F(EventQueueTest, RenewsOnlyLeasesThatAreStillHeld) {
  have("a", 3, 60);
  ClaimOptions options;
  const std::vector<std::string> sources{"a"};
  options.sources = sources;
  const auto claimed = claim_events(claims(), options);
  std::vector<std::int64_t> ids;
  for (const auto& one : claimed) ids.push_back(one.event.id);
  database().execute("UPDATE hookgate.events SET claim_token = 7 WHERE id = " +
                     std::to_string(ids[0]));
  auto renewed =
      renew_leases(claims(), claimed[0].token, ids, std::chrono::milliseconds{3'600'000});
  std::ranges::sort(renewed);
  EXPECT_EQ(renewed, (std::vector<std::int64_t>{ids[1], ids[2]}));
  EXPECT_EQ(database().count("hookgate.events WHERE due_at > now() + interval '50 min'"), 2);
}

}  // namespace
}  // namespace hookgate
