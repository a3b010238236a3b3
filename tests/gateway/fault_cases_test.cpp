#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include <pqxx/pqxx>
#include <unistd.h>

#include "config.h"
#include "dev/private_postgres.h"
#include "gateway_support.h"
#include "postgres_proxy.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// The cases that others had with queues, answers and databases, each named by its number in the
// shared list. What its file says in words is done here with real processes, real signals and a
// real server.
//
// The effect is one row in public.effects, without a key that could hide a second one; then the
// handler sleeps as long as public.delay says.
class FaultCasesTest : public GatewayTest {
 protected:
  void SetUp() override {
    GatewayTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    prepare([&](const std::string& statement) { database().execute(statement); });
  }

  template <typename Execute>
  static void prepare(Execute execute) {
    execute(
        "CREATE TABLE IF NOT EXISTS public.effects (source text, event_id text, event_type "
        "text, subject text)");
    execute("CREATE TABLE public.delay (seconds float8 NOT NULL)");
  }
  void set_delay(int length_s) {
    database().execute("DELETE FROM delay");
    database().execute("INSERT INTO delay VALUES (" + std::to_string(length_s) + ")");
  }

  static std::string config(const Secret& url, int workers, const std::string& settings = "",
                            const std::string& statement =
                                "SELECT count(pg_sleep(seconds)) FROM "
                                "delay") {
    auto text =
        test_config(url, workers,
                    source_block("stripe", "stripe", {kStripeSecret}, "handlers = [\"effect\"]") +
                        "[[handler]]\nname = \"effect\"\nkind = \"sql\"\n"
                        "params = { id = \"@event_id\", subject = \"/data/object/id\" }\n"
                        "statement = [\n\"INSERT INTO public.effects (event_id, subject) "
                        "VALUES (:id, :subject)\",\n\"" +
                        statement + "\",\n]\n");
    const std::string count = "count = " + std::to_string(workers) + "\n";
    return text.replace(text.find(count), count.size(), count + settings);
  }

  InboundRequest event(int number) const {
    const auto n = std::to_string(number);
    return signed_request(
        *stripe_, "stripe",
        stripe_event("evt_" + n, "payment_intent.succeeded",
                     R"({"id":"pi_)" + n + R"(","object":"payment_intent","amount":1000})"),
        system_now());
  }

  // Sends events first..first+count-1 at a pace; the longest time an answer took.
  milliseconds send_rate(const std::string& address, int first, int count, milliseconds pause) {
    HttpSession session{address};
    milliseconds longest{0};
    auto next = steady_clock::now();
    for (int n = first; n < first + count; ++n) {
      std::this_thread::sleep_until(next);
      next += pause;
      const auto began = steady_clock::now();
      EXPECT_EQ(session.send(event(n)).status, 200) << n;
      longest =
          std::max(longest, std::chrono::duration_cast<milliseconds>(steady_clock::now() - began));
    }
    return longest;
  }

  template <typename Condition>
  static bool eventually(Condition condition, seconds limit) {
    const auto deadline = steady_clock::now() + limit;
    while (!condition()) {
      if (steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(milliseconds{20});
    }
    return true;
  }

  void expect_each_once(int events) {
    EXPECT_EQ(database().count("hookgate.events WHERE status = 'done'"), events);
    EXPECT_EQ(database().count("hookgate.events WHERE status = 'pending' OR claim_token IS NOT "
                               "NULL"),
              0);
    EXPECT_EQ(effects(), events);
    EXPECT_EQ(database().value("SELECT count(DISTINCT event_id) FROM effects"),
              std::to_string(events));
  }

  static std::filesystem::path write(const std::string& text) {
    auto file = std::filesystem::temp_directory_path() /
                ("hookgate-fault-case-" + std::to_string(::getpid()) + ".toml");
    std::ofstream{file} << text;
    return file;
  }

  std::unique_ptr<Provider> stripe_ = test_provider("stripe", kStripeSecret);
};

TEST_F(FaultCasesTest, QUE001KilledInTheMiddleOfAHandler) {
  constexpr int kEvents = 250;
  set_delay(20);
  const auto file = write(config(database().url(), 4));
  {
    GatewayProcess gateway{{"serve", "--config", file.string()}};
    send_rate(gateway.public_address(), 0, kEvents, milliseconds{20});
    EXPECT_GT(database().count("hookgate.events WHERE claim_token IS NOT NULL"), 0);
    gateway.kill_now();
  }
  // The killed process' sessions end when their statements do; what they wrote goes with them.
  set_delay(0);
  const auto began = steady_clock::now();
  GatewayProcess gateway{{"serve", "--config", file.string()}};
  gateway.public_address();
  drain(60);
  EXPECT_LT(steady_clock::now() - began, seconds{60});
  expect_each_once(kEvents);
  EXPECT_EQ(gateway.terminate(), 0);
  std::filesystem::remove(file);
}

// One gateway receives, another one works and is told by NOTIFY.
class WakeUpTest : public FaultCasesTest {
 protected:
  void SetUp() override {
    FaultCasesTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    set_delay(0);
    proxy_ = std::make_unique<PostgresProxy>(database().url());
    receiving_ = start_gateway(config(database().url(), 0));
    start_gateway(config(proxy_->url(), 2));
  }
  void TearDown() override {
    stop_gateways();
    proxy_.reset();
    FaultCasesTest::TearDown();
  }

  // Sessions that listen, as the server sees them; one that fell silent is among them.
  std::string listening(const std::string& what) {
    return database().value(
        "SELECT " + what +
        " FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())");
  }
  static std::chrono::duration<double> cpu_time() {
    return std::chrono::duration<double>{static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
  }
  void expect_an_effect_within_10_s(int number) {
    EXPECT_EQ(send(receiving_, event(number)).status, 200);
    EXPECT_TRUE(eventually(
        [&] {
          return effects("event_id = 'evt_" + std::to_string(number) + "' AND source IS NULL") == 1;
        },
        seconds{10}));
  }

  std::string receiving_;
  std::unique_ptr<PostgresProxy> proxy_;
};

TEST_F(WakeUpTest, QUE005TheWakeUpSessionIsEndedOrFallsSilent) {
  const auto first = listening("max(pid)");
  ASSERT_NE(first, "NULL");
  database().execute("SELECT pg_terminate_backend(" + first + ")");
  expect_an_effect_within_10_s(1);
  EXPECT_TRUE(eventually(
      [&] {
        const auto now = listening("max(pid)");
        return now != first && now != "NULL";
      },
      seconds{30}));

  proxy_->freeze("LISTEN");
  ASSERT_TRUE(eventually([&] { return proxy_->frozen() == 1; }, seconds{5}));
  proxy_->freeze("");
  const auto silent_since = steady_clock::now();
  expect_an_effect_within_10_s(2);
  const auto cpu_before = cpu_time();
  EXPECT_TRUE(eventually([&] { return listening("count(*)") == "2"; }, seconds{30}));
  // Of this whole process, with both gateways and the test's own asking.
  EXPECT_LT(cpu_time() - cpu_before, (steady_clock::now() - silent_since) / 5);
  expect_an_effect_within_10_s(3);
}

// A server of its own, which the test may stop or kill.
class OwnServerTest : public FaultCasesTest {
 protected:
  void SetUp() override {
    FaultCasesTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    options_.data_dir =
        std::filesystem::temp_directory_path() / ("hookgate-own-" + std::to_string(::getpid()));
    postgres_ = std::make_unique<PrivatePostgres>(options_);
    postgres_->start();
    prepare([&](const std::string& statement) { ask(statement); });
    file_ = write(config(Secret{postgres_->url()}, 4));
    gateway_ = std::make_unique<GatewayProcess>(
        std::vector<std::string>{"serve", "--config", file_.string()});
    address_ = gateway_->public_address();
  }
  void TearDown() override {
    if (gateway_) {
      EXPECT_EQ(gateway_->terminate(), 0);
    }
    if (postgres_) postgres_->stop();
    std::filesystem::remove_all(options_.data_dir);
    std::filesystem::remove(file_);
    FaultCasesTest::TearDown();
  }

  std::string ask(const std::string& statement) {
    pqxx::connection connection{postgres_->url()};
    const auto rows = pqxx::nontransaction{connection}.exec(statement);
    return rows.empty() ? "" : std::string{rows[0][0].c_str()};
  }
  bool all_are_done(int events, seconds limit) {
    return eventually(
        [&] {
          return ask("SELECT count(*) FROM hookgate.events WHERE status = 'done'") ==
                 std::to_string(events);
        },
        limit);
  }

  PrivatePostgresOptions options_;
  std::unique_ptr<PrivatePostgres> postgres_;
  std::filesystem::path file_;
  std::unique_ptr<GatewayProcess> gateway_;
  std::string address_;
};

TEST_F(OwnServerTest, QUE007TheServerRestartsWhileHandlersRun) {
  constexpr int kEvents = 100;
  ask("INSERT INTO delay VALUES (10)");
  send_rate(address_, 0, kEvents, milliseconds{50});
  EXPECT_NE(ask("SELECT count(*) FROM hookgate.events WHERE claim_token IS NOT NULL"), "0");
  postgres_->kill_now();
  postgres_->start();
  ask("DELETE FROM delay");
  EXPECT_TRUE(all_are_done(kEvents, seconds{120}));
  EXPECT_EQ(ask("SELECT count(*) || ' ' || count(DISTINCT event_id) FROM effects"), "100 100");
}

TEST_F(OwnServerTest, DUP010No2xxWhileTheServerIsAway) {
  postgres_->stop();
  const auto began = steady_clock::now();
  EXPECT_EQ(send(address_, event(1)).status, 503);
  EXPECT_LT(steady_clock::now() - began, seconds{10});
  postgres_->start();
  std::this_thread::sleep_for(seconds{5});
  EXPECT_EQ(send(address_, event(1)).status, 200);
  EXPECT_TRUE(all_are_done(1, seconds{60}));
  EXPECT_EQ(ask("SELECT count(*) FROM hookgate.events"), "1");
  EXPECT_EQ(ask("SELECT count(*) FROM effects"), "1");
}

TEST_F(FaultCasesTest, DUP009AFailedRunIsNotTakenForDone) {
  database().execute("CREATE SEQUENCE runs");
  database().execute(
      "CREATE FUNCTION fail_once() RETURNS void LANGUAGE plpgsql AS $$ BEGIN IF "
      "nextval('runs') = 1 THEN RAISE 'made to fail'; END IF; END $$");
  const auto address = start_gateway(config(database().url(), 1, "", "SELECT fail_once()"));
  EXPECT_EQ(send(address, event(1)).status, 200);
  EXPECT_TRUE(eventually(
      [&] { return database().count("hookgate.events WHERE failures = 1") == 1; }, seconds{10}));
  EXPECT_EQ(effects("source IS NULL"), 0);
  const auto again = send(address, event(1));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  drain();
  EXPECT_EQ(effects("source IS NULL"), 1);
  EXPECT_EQ(database().value("SELECT status || attempts FROM hookgate.events"), "done2");
}

TEST_F(FaultCasesTest, QUE009OnePoisonEventHoldsUpNoOther) {
  constexpr int kOthers = 500;
  constexpr int kAttempts = 8;
  database().execute(
      "ALTER TABLE effects ADD CONSTRAINT no_poison CHECK (source IS NOT NULL OR subject <> "
      "'pi_0')");
  set_delay(0);
  const auto address = start_gateway(
      config(database().url(), 2, "max_attempts = " + std::to_string(kAttempts) + "\n"));
  EXPECT_EQ(send(address, event(0)).status, 200);
  send_rate(address, 1, kOthers, milliseconds{20});
  EXPECT_TRUE(eventually(
      [&] {
        return database().count("hookgate.events WHERE status = 'done' AND event_id <> 'evt_0'") ==
               kOthers;
      },
      seconds{10}));
  EXPECT_EQ(effects("source IS NULL"), kOthers);
  // Its tries are moved up: the waits between them grow to minutes.
  double longest = 0;
  EXPECT_TRUE(eventually(
      [&] {
        const auto wait = database().value(
            "SELECT coalesce(max(extract(epoch FROM due_at - now())), 0) FROM hookgate.events "
            "WHERE "
            "event_id = 'evt_0' AND status = 'pending' AND claim_token IS NULL");
        longest = std::max(longest, std::stod(wait));
        database().execute(
            "UPDATE hookgate.events SET due_at = now() WHERE event_id = 'evt_0' AND status = "
            "'pending' AND claim_token IS NULL AND due_at > now()");
        return database().count("hookgate.events WHERE event_id = 'evt_0' AND status = 'dead'") ==
               1;
      },
      seconds{60}));
  EXPECT_GT(longest, 1.0);
  EXPECT_EQ(database().value("SELECT failures FROM hookgate.events WHERE event_id = 'evt_0'"),
            std::to_string(kAttempts));
  EXPECT_NE(database()
                .value("SELECT last_error FROM hookgate.events WHERE event_id = 'evt_0'")
                .find("no_poison"),
            std::string::npos);
}

TEST_F(FaultCasesTest, QUE010AnOperatorReplaysWhatIsDone) {
  set_delay(0);
  const auto file = write(config(database().url(), 4));
  const auto address = start_gateway(config(database().url(), 4));
  EXPECT_EQ(send(address, event(1)).status, 200);
  drain();
  const auto retry = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"events", "retry", "evt_1", "--config", file.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return GatewayProcess{arguments}.wait(30);
  };
  for (int copy = 0; copy < 3; ++copy) EXPECT_EQ(retry({}), 1);
  for (int copy = 0; copy < 3; ++copy) {
    EXPECT_EQ(retry({"--force"}), 0);
    drain();
  }
  EXPECT_EQ(effects("source IS NULL"), 1);
  std::filesystem::remove(file);
}

TEST_F(FaultCasesTest, ACK001SlowHandlersDoNotSlowTheAnswer) {
  set_delay(30);
  const auto address = start_gateway(config(database().url(), 2));
  const auto longest = send_rate(address, 0, 400, milliseconds{50});
  EXPECT_LT(longest, seconds{5});
  EXPECT_GT(database().count("hookgate.events WHERE claim_token IS NOT NULL"), 0);
  EXPECT_EQ(effects(), 0);
  database().execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
      "AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()");
  set_delay(0);
}

}  // namespace
}  // namespace hookgate
