#include "worker/event_runner.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include <gmock/gmock.h>

#include "metrics_text.h"
#include "store/event_store.h"
#include "store/pooled_event_queue.h"
#include "test_database.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;

// Acts out what the test wants; `effects` rows are what a user's handler would write.
class ActingHandler final : public Handler {
 public:
  using Act = std::function<Outcome(const Event&, HandlerContext&)>;
  ActingHandler(std::string name, Act act, bool sees_versions = false)
      : name_(std::move(name)), act_(std::move(act)), sees_versions_(sees_versions) {}
  std::string_view name() const override { return name_; }
  Outcome handle(const Event& event, HandlerContext& context) override {
    ++calls;
    return act_(event, context);
  }
  bool sees_versions() const override { return sees_versions_; }
  std::vector<std::string> lock_keys(const Event& event) const override {
    if (!locks) return {};
    return {event.subject};
  }

  std::atomic<int> calls = 0;
  bool locks = true;

 private:
  std::string name_;
  Act act_;
  bool sees_versions_;
};

Outcome write_effect(const Event& event, HandlerContext& context, const std::string& by = "h") {
  context.sql().execute("INSERT INTO effects (event_id, by) VALUES ($1, $2)", {event.event_id, by});
  return Done{};
}

class EventRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HOOKGATE_REQUIRE_DATABASE();
    database_ = std::make_unique<TestDatabase>();
    PoolSettings settings;
    settings.url = database_->url();
    pool_ = std::make_unique<ConnectionPool>(settings);
    queue_ = std::make_unique<PooledEventQueue>(*pool_, *pool_);
    settings_.backoff = {milliseconds{0}, milliseconds{0}};
    database_->execute("CREATE TABLE effects (event_id text, by text)");
  }

  TestDatabase& database() { return *database_; }

  void store(const std::vector<std::string>& ids, char content = 'a') {
    auto lease = pool_->acquire();
    std::vector<Delivery> deliveries;
    deliveries.reserve(ids.size());
    for (const auto& id : ids) {
      auto request = std::make_shared<Delivery::Request>();
      request->source = "stripe";
      request->body = "body of " + id + " " + content;
      request->received_at = system_now();
      Delivery delivery;
      delivery.request = request;
      delivery.event.event_id = id;
      delivery.event.event_type = "t";
      delivery.event.subject = "s" + id;
      delivery.event.content.fill(static_cast<std::byte>(content));
      delivery.event.signed_content = delivery.event.content;
      deliveries.push_back(delivery);
    }
    events_.record(*lease, deliveries);
  }

  std::unique_ptr<EventRunner> runner(std::vector<Handler*> handlers) {
    return std::make_unique<EventRunner>(
        *queue_, std::vector<HandledSource>{{"stripe", "stripe", std::move(handlers)}}, system_now,
        settings_);
  }

  static std::size_t run_all(EventRunner& runner) {
    std::size_t total = 0;
    while (const auto ran = runner.run_once()) total += ran;
    return total;
  }

  std::string status(const std::string& id) {
    return database().value("SELECT status FROM hookgate.events WHERE event_id = '" + id + "'");
  }
  std::int64_t effects(const std::string& where = "true") {
    return database().count("effects WHERE " + where);
  }

  RunnerSettings settings_{};
  std::unique_ptr<ConnectionPool> pool_;
  std::unique_ptr<PooledEventQueue> queue_;

 private:
  std::unique_ptr<TestDatabase> database_;
  EventStore events_;
};

TEST_F(EventRunnerTest, RunsEachEventOnceAndMarksItDone) {
  ActingHandler handler{"h",
                        [](auto& event, auto& context) { return write_effect(event, context); }};
  store({"1", "2", "3"});
  auto runner = this->runner({&handler});
  EXPECT_EQ(run_all(*runner), 3U);
  EXPECT_EQ(effects(), 3);
  EXPECT_EQ(database().count(
                "hookgate.events WHERE status = 'done' AND attempts = 1 AND claim_token IS NULL"),
            3);
}

TEST_F(EventRunnerTest, SharesTheEventsBetweenManyWorkersWithoutRunningOneTwice) {
  ActingHandler handler{"h",
                        [](auto& event, auto& context) { return write_effect(event, context); }};
  std::vector<std::string> ids;
  ids.reserve(400);
  for (int i = 0; i < 400; ++i) ids.push_back(std::to_string(i));
  store(ids);
  settings_.batch_events_max = 7;
  auto runner = this->runner({&handler});
  std::vector<std::thread> threads;
  threads.reserve(6);
  for (int i = 0; i < 6; ++i) threads.emplace_back([&] { run_all(*runner); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(effects(), 400);
  EXPECT_EQ(database().value("SELECT count(DISTINCT event_id) FROM effects"), "400");
}

TEST_F(EventRunnerTest, GivesTheHandlerTheRawBytes) {
  std::string seen;
  ActingHandler handler{"h", [&](const Event& event, auto&) -> Outcome {
                          seen = event.body;
                          return Done{};
                        }};
  store({"1"});
  run_all(*runner({&handler}));
  EXPECT_EQ(seen, "body of 1 a");
}

TEST_F(EventRunnerTest, UndoesTheWritesOfAHandlerThatWantsToRetryAndThenWritesOnce) {
  ActingHandler handler{"h", [&](const Event& event, HandlerContext& context) -> Outcome {
                          write_effect(event, context);
                          if (event.attempt < 3) return RetryLater{"not yet"};
                          return Done{};
                        }};
  store({"1"});
  run_all(*runner({&handler}));
  EXPECT_EQ(status("1"), "done");
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(database().value("SELECT failures FROM hookgate.events"), "2");
}

TEST_F(EventRunnerTest, AFailingEventDoesNotUndoItsBatchNeighbours) {
  ActingHandler handler{"h", [&](const Event& event, HandlerContext& context) -> Outcome {
                          write_effect(event, context);
                          if (event.event_id == "2") throw std::runtime_error("boom");
                          return Done{};
                        }};
  store({"1", "2", "3"});
  settings_.failures_max = 1;
  run_all(*runner({&handler}));
  EXPECT_EQ(status("1"), "done");
  EXPECT_EQ(status("2"), "dead");
  EXPECT_EQ(status("3"), "done");
  EXPECT_EQ(effects(), 2);
  EXPECT_EQ(database().value("SELECT last_error FROM hookgate.events WHERE event_id = '2'"),
            "h: boom");
}

TEST_F(EventRunnerTest, AnSqlErrorOfOneHandlerLeavesTheTransactionUsable) {
  ActingHandler broken{"broken", [](auto&, HandlerContext& context) -> Outcome {
                         context.sql().execute("SELECT 1 / 0");
                         return Done{};
                       }};
  ActingHandler good{"good",
                     [](auto& event, auto& context) { return write_effect(event, context); }};
  store({"1"});
  settings_.failures_max = 1;
  run_all(*runner({&broken, &good}));
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(status("1"), "dead");
}

TEST_F(EventRunnerTest, AStatementPutOffThatFailsIsAFailureOfItsEventAlone) {
  ActingHandler handler{
      "h", [&](const Event& event, HandlerContext& context) -> Outcome {
        context.sql().execute_later(
            "INSERT INTO effects (event_id, by) VALUES ($1::text, ($1::text::integer)::text)",
            std::vector<SqlValue>{event.event_id});
        return Done{};
      }};
  store({"1", "two", "3"});
  settings_.failures_max = 1;
  run_all(*runner({&handler}));
  EXPECT_EQ(status("1") + ' ' + status("two") + ' ' + status("3"), "done dead done");
  EXPECT_EQ(database().value("SELECT string_agg(event_id, ' ' ORDER BY event_id) FROM effects"),
            "1 3");
  EXPECT_THAT(database().value("SELECT last_error FROM hookgate.events WHERE status = 'dead'"),
              testing::HasSubstr("invalid input syntax for type integer"));
}

TEST_F(EventRunnerTest, NeverRunsAHandlerAgainThatSucceededWhileAnotherRetries) {
  ActingHandler good{"good",
                     [](auto& event, auto& context) { return write_effect(event, context); }};
  ActingHandler flaky{"flaky", [](const Event& event, auto&) -> Outcome {
                        if (event.attempt < 4) return RetryLater{"busy"};
                        return Done{};
                      }};
  store({"1"});
  run_all(*runner({&good, &flaky}));
  EXPECT_EQ(good.calls, 1);
  EXPECT_EQ(flaky.calls, 4);
  EXPECT_EQ(status("1"), "done");
}

TEST_F(EventRunnerTest, GoesOnWithTheOtherHandlersWhenOneGivesUp) {
  ActingHandler hopeless{"hopeless", [](auto&, auto&) -> Outcome { return GiveUp{"never"}; }};
  ActingHandler good{"good",
                     [](auto& event, auto& context) { return write_effect(event, context); }};
  store({"1"});
  run_all(*runner({&hopeless, &good}));
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(status("1"), "dead");
  EXPECT_EQ(database().value("SELECT last_error FROM hookgate.events"), "hopeless: never");
}

TEST_F(EventRunnerTest, MarksAnEventNobodyWantsAsIgnored) {
  ActingHandler other{"other", [](auto&, auto&) -> Outcome { return Ignored{}; }};
  store({"1"});
  run_all(*runner({&other}));
  EXPECT_EQ(status("1"), "ignored");
}

TEST_F(EventRunnerTest, WaitsBetweenTwoTries) {
  settings_.backoff = {milliseconds{60'000}, milliseconds{60'000}};
  ActingHandler handler{"h", [](auto&, auto&) -> Outcome { return RetryLater{"busy"}; }};
  store({"1"});
  auto runner = this->runner({&handler});
  EXPECT_EQ(run_all(*runner), 1U);
  EXPECT_EQ(handler.calls, 1);
  EXPECT_EQ(database().value("SELECT due_at > now() + interval '5 seconds' FROM hookgate.events"),
            "t");
}

// Law 4: a worker whose lease ran out must not commit over the one that took the event after it.
TEST_F(EventRunnerTest, ALateWorkerWritesNothing) {
  settings_.lease = milliseconds{1};
  auto quick = std::make_unique<ActingHandler>(
      "h", [](auto& event, auto& context) { return write_effect(event, context, "quick"); });
  ActingHandler late{"h", [&](const Event& event, HandlerContext& context) -> Outcome {
                       write_effect(event, context, "late");
                       auto other = runner({quick.get()});
                       while (other->run_once() == 0)
                         std::this_thread::yield();  // its lease is over
                       return Done{};
                     }};
  late.locks = quick->locks = false;
  store({"1"});
  runner({&late})->run_once();
  EXPECT_EQ(effects("by = 'quick'"), 1);
  EXPECT_EQ(effects("by = 'late'"), 0);
  EXPECT_EQ(status("1"), "done");
}

TEST_F(EventRunnerTest, RescuesAnEventWhoseWorkerDiedAndCountsItAsACrashNotAFailure) {
  store({"1"});
  database().execute(
      "UPDATE hookgate.events SET claim_token = 7, attempts = 1, due_at = now() - interval '1 "
      "second'");
  ActingHandler handler{"h",
                        [](auto& event, auto& context) { return write_effect(event, context); }};
  run_all(*runner({&handler}));
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(
      database().value("SELECT crashes || '/' || failures || '/' || status FROM hookgate.events"),
      "1/0/done");
}

TEST_F(EventRunnerTest, RunsEventsAloneAfterTheirLeaseExpired) {
  store({"1", "2"});
  database().execute(
      "UPDATE hookgate.events SET claim_token = 7, due_at = now() - interval '1 second'");
  ActingHandler handler{"h",
                        [](auto& event, auto& context) { return write_effect(event, context); }};
  auto runner = this->runner({&handler});
  EXPECT_EQ(runner->run_once(), 1U);
  EXPECT_EQ(runner->run_once(), 1U);
  EXPECT_EQ(runner->run_once(), 0U);
}

TEST_F(EventRunnerTest, GivesUpOnAnEventThatKillsItsProcessAgainAndAgain) {
  store({"1"});
  settings_.crashes_max = 3;
  database().execute(
      "UPDATE hookgate.events SET claim_token = 7, crashes = 3, due_at = now() - interval '1 "
      "second'");
  ActingHandler handler{"h",
                        [](auto& event, auto& context) { return write_effect(event, context); }};
  run_all(*runner({&handler}));
  EXPECT_EQ(handler.calls, 0);
  EXPECT_EQ(status("1"), "dead");
}

TEST_F(EventRunnerTest, ShowsAnotherVersionToTheHandlersThatSeeThemAndOnlyToThem) {
  ActingHandler plain{
      "plain", [](auto& event, auto& context) { return write_effect(event, context, "plain"); }};
  std::vector<std::size_t> versions;
  ActingHandler ledger{"ledger",
                       [&](const Event& event, auto&) -> Outcome {
                         versions.push_back(event.versions.size());
                         return Done{};
                       },
                       true};
  auto runner = this->runner({&plain, &ledger});
  store({"1"}, 'a');
  run_all(*runner);
  store({"1"}, 'b');
  run_all(*runner);
  EXPECT_EQ(plain.calls, 1);
  EXPECT_EQ(versions, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(status("1"), "done");
}

TEST_F(EventRunnerTest, GoesRoundAgainForAVersionThatCameWhileTheHandlersRan) {
  ActingHandler ledger{"ledger",
                       [&](const Event& event, auto&) -> Outcome {
                         if (event.versions.empty()) store({"1"}, 'b');
                         return Done{};
                       },
                       true};
  store({"1"}, 'a');
  run_all(*runner({&ledger}));
  EXPECT_EQ(ledger.calls, 2);
  EXPECT_EQ(status("1"), "done");
}

TEST_F(EventRunnerTest, RepeatsAtOnceAfterADeadlockAndCountsNoFailure) {
  std::atomic<int> tries = 0;
  ActingHandler handler{"h", [&](auto& event, HandlerContext& context) -> Outcome {
                          if (++tries < 3) {
                            context.sql().execute("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$");
                          }
                          return write_effect(event, context);
                        }};
  store({"1"});
  EXPECT_EQ(run_all(*runner({&handler})), 1U);
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(database().value("SELECT failures || '/' || attempts FROM hookgate.events"), "0/1");
}

TEST_F(EventRunnerTest, TakesOverAtOnceWhatAProcessHeldThatIsGone) {
  store({"1", "2"});
  settings_.instance = fresh_instance();
  ActingHandler handler{"h",
                        [](auto& event, auto& context) { return write_effect(event, context); }};
  auto lease = pool_->acquire();
  {
    Connection presence{database().url(), SessionSettings{}};
    show_presence(presence, settings_.instance);
    ClaimOptions options;
    const std::vector<std::string> sources{"stripe"};
    options.sources = sources;
    options.instance = settings_.instance;
    EXPECT_EQ(claim_events(*lease, options).size(), 2U);
    EXPECT_EQ(release_claims_of_the_gone(*lease), 0U);
  }
  while (release_claims_of_the_gone(*lease) == 0)
    std::this_thread::yield();  // until the server saw it go
  EXPECT_EQ(run_all(*runner({&handler})), 2U);
  EXPECT_EQ(effects(), 2);
}

TEST_F(EventRunnerTest, LeavesEventsOfOtherSourcesAlone) {
  store({"1"});
  database().execute("UPDATE hookgate.events SET source = 'elsewhere'");
  ActingHandler handler{"h", [](auto&, auto&) -> Outcome { return Done{}; }};
  EXPECT_EQ(run_all(*runner({&handler})), 0U);
}

TEST_F(EventRunnerTest, TellsTheMetricsHowEachRunEndedOnceItIsCommitted) {
  Metrics metrics;
  settings_.metrics = &metrics;
  const auto runs = [&](const std::string& outcome) {
    return MetricsText{metrics.text()}.value(
        R"(hookgate_handler_runs_total{handler="h",outcome=")" + outcome + "\"}");
  };
  ActingHandler handler{"h", [](auto& event, auto& context) -> Outcome {
                          if (event.event_id == "bad") throw std::runtime_error("boom");
                          return write_effect(event, context);
                        }};
  settings_.failures_max = 1;
  auto runner = this->runner({&handler});
  store({"1", "2", "3"});
  run_all(*runner);
  EXPECT_EQ(runs("done"), 3);
  EXPECT_EQ(runs("undone"), 0);
  // The whole batch is rolled back, then each event runs alone.
  store({"4", "bad", "5"});
  run_all(*runner);
  EXPECT_EQ(runs("done"), 5);
  EXPECT_EQ(runs("error"), 1);
  EXPECT_GE(runs("undone"), 1);
  EXPECT_EQ(runs("done") + runs("error") + runs("undone"), handler.calls);
}

// Of an event alone, with a flood of others waiting all the time.
TEST_F(EventRunnerTest, AFloodDoesNotKeepAnEventWaitingWhoseWorkerDied) {
  store({"lost"});
  database().execute(
      "UPDATE hookgate.events SET claim_token = 7, due_at = now() - interval '1 second'");
  std::vector<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.push_back(std::to_string(i));
  store(ids);
  settings_.batch_events_max = 1;
  ActingHandler handler{"h", [](auto&, auto&) -> Outcome { return Done{}; }};
  auto runner = this->runner({&handler});
  for (int i = 0; i < 20; ++i) runner->run_once();
  EXPECT_EQ(status("lost"), "done");
}

class HandlerLimitTest : public EventRunnerTest {
 protected:
  void SetUp() override {
    EventRunnerTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    PoolSettings settings;
    settings.url = database().url();
    settings.session.statement_timeout = kLimit;
    settings.session.lock_timeout = milliseconds{50};
    runs_ = std::make_unique<ConnectionPool>(settings);
    queue_ = std::make_unique<PooledEventQueue>(*pool_, *runs_);
    settings_.handler_timeout = kLimit;
    settings_.backoff = {milliseconds{60'000}, milliseconds{60'000}};
  }
  static Outcome sleep(HandlerContext& context, const std::string& seconds) {
    context.sql().execute("SELECT pg_sleep(" + seconds + ")");
    return Done{};
  }
  std::string counters(const std::string& id) {
    return database().value(
        "SELECT status || ' ' || failures || ' ' || crashes || ' ' || attempts FROM "
        "hookgate.events WHERE event_id = '" +
        id + "'");
  }
  std::string last_error() {
    return database().value("SELECT last_error FROM hookgate.events WHERE event_id = '1'");
  }

  static constexpr milliseconds kLimit{400};

 private:
  std::unique_ptr<ConnectionPool> runs_;
};

TEST_F(HandlerLimitTest, AStatementThatTakesTooLongIsAFailureOfItsHandlerAlone) {
  ActingHandler slow{"slow", [](const Event& event, HandlerContext& context) -> Outcome {
                       if (event.event_id == "1") return sleep(context, "60");
                       return Done{};
                     }};
  ActingHandler good{"good",
                     [](auto& event, auto& context) { return write_effect(event, context); }};
  store({"1", "2"});
  runner({&slow, &good})->run_once();
  EXPECT_EQ(counters("1"), "pending 1 0 1");
  EXPECT_EQ(counters("2"), "done 0 0 1");
  EXPECT_EQ(effects(), 2);
  EXPECT_NE(last_error().find("statement timeout"), std::string::npos) << last_error();
}

TEST_F(HandlerLimitTest, ManyShortStatementsTogetherMayNotTakeLongerEither) {
  int statements = 0;
  ActingHandler slow{"slow", [&](auto&, HandlerContext& context) -> Outcome {
                       for (; statements < 1'000; ++statements) sleep(context, "0.05");
                       return Done{};
                     }};
  store({"1"});
  runner({&slow})->run_once();
  EXPECT_EQ(counters("1"), "pending 1 0 1");
  EXPECT_LT(statements, 20);
}

// Most of its time is gone when it asks for something that would take as long again.
TEST_F(HandlerLimitTest, ALateStatementHasOnlyTheRestOfTheTime) {
  auto now = std::chrono::steady_clock::now();
  settings_.steady_clock = [&] { return now; };
  ActingHandler slow{"slow", [&](auto&, HandlerContext& context) -> Outcome {
                       now += kLimit - milliseconds{20};
                       return sleep(context, "0.2");
                     }};
  store({"1"});
  runner({&slow})->run_once();
  EXPECT_EQ(counters("1"), "pending 1 0 1");
}

TEST_F(HandlerLimitTest, TheNextHandlerHasItsWholeTime) {
  auto now = std::chrono::steady_clock::now();
  settings_.steady_clock = [&] { return now; };
  ActingHandler slow{"slow", [&](auto&, HandlerContext& context) -> Outcome {
                       now += kLimit - milliseconds{100};
                       return sleep(context, "0.01");
                     }};
  ActingHandler next{"next", [](auto&, HandlerContext& context) { return sleep(context, "0.2"); }};
  store({"1"});
  runner({&slow, &next})->run_once();
  EXPECT_EQ(counters("1"), "done 0 0 1");
}

TEST_F(HandlerLimitTest, AnEventWhoseLocksAreHeldIsPostponedAndNobodyFails) {
  ActingHandler handler{"h",
                        [](auto& event, auto& context) { return write_effect(event, context); }};
  store({"1"});
  auto lease = pool_->acquire();
  in_event_transaction(*lease, [&](EventTransaction& other) {
    const std::vector<std::string> names{"s1"};
    other.lock(names);
    runner({&handler})->run_once();
  });
  EXPECT_EQ(counters("1"), "pending 0 0 1");
  EXPECT_EQ(database().value("SELECT claim_token FROM hookgate.events"), "NULL");
  EXPECT_EQ(handler.calls, 0);
  database().execute("UPDATE hookgate.events SET due_at = now()");
  runner({&handler})->run_once();
  EXPECT_EQ(status("1"), "done");
}

TEST_F(HandlerLimitTest, ALongBatchKeepsItsLeases) {
  settings_.handler_timeout = milliseconds{30'000};
  auto now = std::chrono::steady_clock::now();
  settings_.steady_clock = [&] { return now; };
  ActingHandler slow{
      "slow", [&](const Event& event, HandlerContext&) -> Outcome {
        if (event.event_id == "1") {
          now += std::chrono::seconds{29};
          database().execute("UPDATE hookgate.events SET due_at = now() + interval '11 seconds'");
        } else {
          EXPECT_EQ(database().count("hookgate.events WHERE due_at > now() + "
                                     "interval '35 seconds'"),
                    2);
        }
        return Done{};
      }};
  store({"1", "2"});
  runner({&slow})->run_once();
  EXPECT_EQ(slow.calls, 2);
  EXPECT_EQ(database().count("hookgate.events WHERE status = 'done'"), 2);
}

// An operator discards one of a batch while another of it runs.
TEST_F(HandlerLimitTest, ALongBatchGoesOnWithoutTheEventItHasLost) {
  settings_.handler_timeout = milliseconds{30'000};
  auto now = std::chrono::steady_clock::now();
  settings_.steady_clock = [&] { return now; };
  ActingHandler slow{"slow", [&](const Event& event, HandlerContext& context) -> Outcome {
                       now += std::chrono::seconds{29};
                       database().execute(
                           "UPDATE hookgate.events SET claim_token = NULL, status = 'discarded' "
                           "WHERE event_id = '2'");
                       return write_effect(event, context);
                     }};
  store({"1", "2", "3"});
  runner({&slow})->run_once();
  EXPECT_EQ(status("1") + status("2") + status("3"), "donediscardeddone");
  EXPECT_EQ(effects("event_id = '2'"), 0);
  EXPECT_EQ(effects(), 2);
}

}  // namespace
}  // namespace hookgate
