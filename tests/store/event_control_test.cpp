#include "store/event_control.h"

#include <stdexcept>
#include <thread>

#include "store/event_notifications.h"
#include "store/event_queue.h"
#include "store_test_support.h"

namespace hookgate {
namespace {

class EventControlTest : public StoreTest {
 protected:
  // An event in `status`, with spent budgets.
  void have(const std::string& id, const std::string& status, const std::string& finished = "") {
    record_one(a_delivery(id));
    database().execute("UPDATE hookgate.events SET status = '" + status + "', finished = '" +
                       finished +
                       "', failures = 15, crashes = 3, attempts = 18, last_error = 'busy', "
                       "due_at = now() + interval '1 hour' WHERE event_id = '" +
                       id + "'");
  }
  std::string column(const std::string& id, const std::string& name) {
    return database().value("SELECT (" + name + ")::text FROM hookgate.events WHERE event_id = '" +
                            id + "'");
  }
  std::string status(const std::string& id) { return column(id, "status"); }

  ControlResult retry(const EventSelection& selection, RetryOptions options = {}) {
    return retry_events(connection(), selection, options);
  }
  ControlResult discard(const EventSelection& selection, bool dry_run = false) {
    return discard_events(connection(), selection, dry_run);
  }
  static EventSelection all(const std::string& status) {
    EventSelection selection;
    selection.filter.status = status;
    selection.filter.limit = kEveryEvent;
    return selection;
  }
  std::vector<ClaimedEvent> claim() {
    static const std::vector<std::string> sources{"stripe"};
    ClaimOptions options;
    options.sources = sources;
    return claim_events(connection(), options);
  }
  std::size_t rows_finished_by(const ClaimedEvent& claimed) {
    std::size_t rows = 0;
    in_event_transaction(connection(), [&](EventTransaction& transaction) {
      FinishedEvent finished;
      finished.id = claimed.event.id;
      rows = transaction.finish(claimed.token, std::vector{finished});
    });
    return rows;
  }
};

TEST_F(EventControlTest, MakesADeadEventPendingAndDueWithFreshBudgets) {
  have("evt_1", "dead");
  EXPECT_EQ(retry({{"evt_1"}, {}}).events, 1U);
  EXPECT_EQ(column("evt_1", "status || failures || crashes || attempts"), "pending0018");
  EXPECT_EQ(column("evt_1", "due_at <= now()"), "true");
  EXPECT_EQ(claim().size(), 1U);
}

TEST_F(EventControlTest, RunsAgainOnlyTheHandlersThatHaveNotSucceeded) {
  have("evt_1", "dead", "bus,crm!,ledger@2,other?,seer@3!");
  retry({{"evt_1"}, {}});
  EXPECT_EQ(column("evt_1", "finished"), "bus,ledger@2,other?");
}

TEST_F(EventControlTest, TakesDoneAndIgnoredEventsOnlyByForceAndKeepsWhoSucceeded) {
  have("done", "done", "bus,other?");
  have("ignored", "ignored", "bus?");
  const auto result = retry({{"done", "ignored"}, {}});
  EXPECT_EQ(result.events, 0U);
  ASSERT_EQ(result.refused.size(), 2U);
  EXPECT_EQ(result.refused[0].reason, "is done");
  EXPECT_THROW(retry(all("done")), std::invalid_argument);

  EXPECT_EQ(retry({{"done", "ignored"}, {}}, {.force = true, .dry_run = false}).events, 2U);
  EXPECT_EQ(column("done", "status || ' ' || finished || coalesce(done_at::text, '')"),
            "pending bus");
  EXPECT_EQ(column("ignored", "finished"), "");
}

TEST_F(EventControlTest, TakesDiscardedEventsByIdOrStatusButNotWithTheDeadOnes) {
  have("a", "discarded");
  have("b", "discarded");
  have("c", "dead");
  EventSelection of_stripe;
  of_stripe.filter.source = "stripe";
  EXPECT_EQ(retry(of_stripe).events, 1U);
  EXPECT_EQ(status("c"), "pending");
  EXPECT_EQ(retry({{"a"}, {}}).events, 1U);
  EXPECT_EQ(retry(all("discarded")).events, 1U);
}

TEST_F(EventControlTest, HastensAPendingEventThatWaitsButNotOneThatRuns) {
  have("waits", "pending");
  have("runs", "pending");
  database().execute("UPDATE hookgate.events SET claim_token = 7 WHERE event_id = 'runs'");
  const auto result = retry({{"waits", "runs"}, {}});
  EXPECT_EQ(result.events, 1U);
  ASSERT_EQ(result.refused.size(), 1U);
  EXPECT_EQ(result.refused[0].event_id, "runs");
  EXPECT_EQ(result.refused[0].reason, "is being run at the moment");
  EXPECT_EQ(column("runs", "claim_token"), "7");
  EXPECT_EQ(column("waits", "due_at <= now()"), "true");
}

TEST_F(EventControlTest, NarrowsIdsByTheFilterAndTellsWhatNobodyKnows) {
  have("evt_1", "dead");
  EventSelection selection{{"evt_1", "evt_9"}, {}};
  selection.filter.source = "adyen";
  EXPECT_EQ(retry(selection).unknown_ids, (std::vector<std::string>{"evt_1", "evt_9"}));
  selection.filter.source = "stripe";
  EXPECT_EQ(retry(selection).unknown_ids, std::vector<std::string>{"evt_9"});
  EXPECT_EQ(status("evt_1"), "pending");
}

TEST_F(EventControlTest, CountsADryRunAndChangesNothing) {
  have("a", "dead");
  have("b", "dead");
  have("c", "done");
  EXPECT_EQ(retry(all("dead"), {.force = false, .dry_run = true}).events, 2U);
  EXPECT_EQ(retry({{"a", "c"}, {}}, {.force = false, .dry_run = true}).refused.size(), 1U);
  EXPECT_EQ(discard(all("dead"), true).events, 2U);
  EXPECT_EQ(database().count("hookgate.events WHERE status = 'dead'"), 2);
}

TEST_F(EventControlTest, TakesAllThatMatchInBatchesAndHonoursTheLimitFromTheOldest) {
  database().execute(
      "INSERT INTO hookgate.events (id, received_at, last_seen_at, status, source, scope, "
      "event_id, event_type, subject, content, signed_content) SELECT n, now(), now(), 'dead', "
      "'stripe', '', 'e' || n, CASE WHEN n % 2 = 0 THEN 'even.x' ELSE 'odd.x' END, '', '', '' "
      "FROM generate_series(1, 5000) AS n");
  auto selection = all("dead");
  selection.filter.type = "even.*";
  selection.filter.limit = 1'200;
  EXPECT_EQ(retry(selection).events, 1'200U);
  EXPECT_EQ(database().value("SELECT max(id) FROM hookgate.events WHERE status = 'pending'"),
            "2400");
  EXPECT_EQ(retry(all("dead")).events, 3'800U);
  EXPECT_EQ(retry(all("pending")).events, 5'000U);
  EXPECT_EQ(discard(all("pending")).events, 5'000U);
}

TEST_F(EventControlTest, DiscardsPendingAndDeadEventsAndNeverDoneOnes) {
  for (const std::string status : {"pending", "dead", "done", "ignored"}) have(status, status);
  EventSelection of_stripe;
  of_stripe.filter.source = "stripe";
  EXPECT_EQ(discard(of_stripe).events, 2U);
  EXPECT_EQ(discard({{"done", "ignored", "dead"}, {}}).refused.size(), 3U);
  EXPECT_EQ(database().count("hookgate.events WHERE status = 'discarded'"), 2);
  EXPECT_EQ(status("done"), "done");
}

// The worker's finish must not bring the event back, and nothing it wrote may stay.
TEST_F(EventControlTest, TakesADiscardedEventFromTheWorkerThatRunsIt) {
  record_one(a_delivery("evt_1"));
  const auto claimed = claim().at(0);
  EXPECT_EQ(discard({{"evt_1"}, {}}).events, 1U);
  EXPECT_EQ(rows_finished_by(claimed), 0U);
  EXPECT_EQ(status("evt_1"), "discarded");
  // Nor may it pass for the run that a retry asks for.
  EXPECT_EQ(retry({{"evt_1"}, {}}).events, 1U);
  EXPECT_EQ(rows_finished_by(claimed), 0U);
}

// Both have read the row; the one that waited must see what became of it.
TEST_F(EventControlTest, DoesNotDiscardAnEventThatIsDoneBeforeItsRowIsHad) {
  record_one(a_delivery("evt_1"));
  const auto claimed = claim().at(0);
  Connection other{database().url(), SessionSettings{}};
  std::thread operator_thread;
  ControlResult result;
  in_event_transaction(other, [&](EventTransaction& transaction) {
    FinishedEvent finished;
    finished.id = claimed.event.id;
    transaction.finish(claimed.token, std::vector{finished});
    operator_thread = std::thread{[&] { result = discard({{"evt_1"}, {}}); }};
    while (database().count("pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "
                            "current_database()") == 0)
      std::this_thread::yield();
    transaction.commit();
  });
  operator_thread.join();
  EXPECT_EQ(result.events, 0U);
  ASSERT_EQ(result.refused.size(), 1U);
  EXPECT_EQ(result.refused[0].reason, "is done");
  EXPECT_EQ(status("evt_1"), "done");
}

TEST_F(EventControlTest, WakesTheGateways) {
  have("evt_1", "dead");
  Connection listening{database().url(), SessionSettings{}};
  EventNotifications notifications{listening, 1};
  retry({{"evt_1"}, {}}, {.force = false, .dry_run = true});
  EXPECT_FALSE(notifications.wait(std::chrono::milliseconds{50}));
  retry({{"evt_1"}, {}});
  EXPECT_TRUE(notifications.wait(std::chrono::milliseconds{5'000}));
}

}  // namespace
}  // namespace hookgate
