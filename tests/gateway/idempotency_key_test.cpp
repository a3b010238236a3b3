#include <atomic>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <pqxx/pqxx>

#include "gateway_support.h"
#include "store/connection.h"

namespace hookgate {
namespace {

using testing::HasSubstr;

constexpr auto kOrders = R"toml(
[[source]]
name = "orders"
provider = "idempotency-key"
clients = [{ name = "web", key = "invented-web-key" }, { name = "mobile", key = "invented-mobile-key" }]
retain = "1h"
respond = "create-order"

[[handler]]
name = "create-order"
kind = "sql"
params = { client = "@scope", product = "/product", quantity = "/quantity" }
statement = "INSERT INTO orders (client_id, product, quantity) VALUES (:client, :product, :quantity::int) RETURNING id AS order_id"
answer = 201
)toml";

class IdempotencyKeyTest : public GatewayTest {
 protected:
  void SetUp() override {
    GatewayTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    database().execute(
        "CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, client_id text "
        "NOT "
        "NULL, product text NOT NULL, quantity integer NOT NULL CHECK (quantity > 0))");
  }

  std::string config(const std::string& more = kOrders) {
    return "[server]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n[database]\nurl "
           "= \"" +
           database().url().reveal() + "\"\n" + more;
  }

  static InboundRequest order(const std::string& client, const std::optional<std::string>& key,
                              const std::string& body = R"({"product":"book","quantity":2})") {
    InboundRequest request;
    request.method = "POST";
    request.target = "/webhooks/orders";
    request.headers = {{"Authorization", "Bearer invented-" + client + "-key"},
                       {"Content-Type", "application/json"}};
    if (key) request.headers.push_back({"Idempotency-Key", *key});
    request.body = body;
    return request;
  }

  static bool within_10_s(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return true;
  }

  void wait_until_blocked() {
    EXPECT_TRUE(within_10_s([this] {
      return database().count(
                 "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "
                 "current_database()") > 0;
    }));
  }

  std::int64_t orders() { return database().count("orders"); }
};

TEST_F(IdempotencyKeyTest, AnswersOnceAndSaysTheSameAgain) {
  const auto address = start_gateway(config());
  const auto first = send(address, order("web", "K1"));
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(first.body, R"({"order_id":1})");
  EXPECT_EQ(first.header("Content-Type"), "application/json");
  EXPECT_EQ(first.header("Idempotent-Replayed"), "");

  const auto again = send(address, order("web", "K1"));
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");

  const auto reordered =
      send(address, order("web", "K1", R"({ "quantity" : 2, "product":"bo\u006fk"})"));
  EXPECT_EQ(reordered.status, 201);
  EXPECT_EQ(reordered.body, first.body);
  EXPECT_EQ(reordered.header("Idempotent-Replayed"), "true");

  const auto other = send(address, order("web", "K1", R"({"product":"book","quantity":3})"));
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.header("Content-Type"), "application/problem+json");

  const auto mobile = send(address, order("mobile", "K1"));
  EXPECT_EQ(mobile.status, 201);
  EXPECT_EQ(mobile.body, R"({"order_id":2})");
  EXPECT_EQ(mobile.header("Idempotent-Replayed"), "");

  drain();
  EXPECT_EQ(orders(), 2);
  EXPECT_EQ(database().value("SELECT string_agg(client_id, ' ' ORDER BY id) FROM orders"),
            "web mobile");
  EXPECT_EQ(database().value("SELECT deliveries || ' ' || status || ' ' || finished FROM "
                             "hookgate.events WHERE scope = 'web'"),
            "4 done counting,create-order");
}

TEST_F(IdempotencyKeyTest, RefusesAMissingOrUnusableKey) {
  const auto address = start_gateway(config());
  EXPECT_EQ(send(address, order("web", std::nullopt)).status, 400);
  EXPECT_EQ(send(address, order("web", "")).status, 400);
  EXPECT_EQ(send(address, order("web", std::string(256, 'k'))).status, 400);
  EXPECT_EQ(send(address, order("web", std::string(255, 'k'))).status, 201);
  auto doubled = order("web", "K1");
  doubled.headers.push_back({"Idempotency-Key", "K2"});
  EXPECT_EQ(send(address, doubled).status, 400);
  EXPECT_EQ(send(address, order("web", "K1", "{")).status, 400);
  EXPECT_EQ(orders(), 1);
}

TEST_F(IdempotencyKeyTest, RefusesAnUnknownClientBeforeAnythingElse) {
  const auto address = start_gateway(config());
  const auto unknown = send(address, order("other", std::nullopt, "{"));
  EXPECT_EQ(unknown.status, 401);
  EXPECT_EQ(unknown.header("WWW-Authenticate"), "Bearer");
  auto without = order("web", "K1");
  without.headers.erase(without.headers.begin());
  EXPECT_EQ(send(address, without).status, 401);
  EXPECT_EQ(database().count("hookgate.events"), 0);
}

// Ended by the test through the database: while it waits for the lock on the table, it runs.
TEST_F(IdempotencyKeyTest, ASecondRequestWhileTheFirstRunsIsToldSoAtOnce) {
  const auto first_gateway = start_gateway(config());
  const auto second_gateway = start_gateway(config());
  Connection blocker{database().url(), {}};
  HttpResult first;
  std::thread sender;
  {
    pqxx::work lock{blocker.raw()};
    lock.exec("LOCK TABLE orders IN EXCLUSIVE MODE");
    sender = std::thread{[&] { first = send(first_gateway, order("web", "K1")); }};
    wait_until_blocked();
    const auto began = std::chrono::steady_clock::now();
    for (const auto& address : {first_gateway, second_gateway}) {
      const auto second = send(address, order("web", "K1"));
      EXPECT_EQ(second.status, 409);
      EXPECT_NE(second.header("Retry-After"), "");
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds{1'500});
  }
  sender.join();
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(send(second_gateway, order("web", "K1")).body, first.body);
  EXPECT_EQ(orders(), 1);
}

TEST_F(IdempotencyKeyTest, OfManyAtOnceOneOrderIsMade) {
  const auto address = start_gateway(config());
  std::atomic<int> created = 0;
  std::atomic<int> running = 0;
  std::atomic<int> others = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      const auto result = send(address, order("web", "K1"));
      if (result.status == 409) {
        ++running;
      } else if (result.status == 201 && result.body == R"({"order_id":1})") {
        ++created;
      } else {
        ++others;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(orders(), 1);
  EXPECT_GE(created, 1);
  EXPECT_EQ(others, 0);
  EXPECT_EQ(created + running, 16);
}

TEST_F(IdempotencyKeyTest, APermanentRefusalIsKeptAndSaidAgain) {
  const auto address = start_gateway(config());
  for (const auto* const body : {R"({"product":"book","quantity":0})",
                                 R"({"product":"book","quantity":"x"})", R"({"quantity":1})"}) {
    const std::string key = body;
    const auto first =
        send(address, order("web", std::to_string(std::hash<std::string>{}(key)), body));
    EXPECT_EQ(first.status, 422) << body;
    EXPECT_EQ(first.header("Idempotent-Replayed"), "");
    EXPECT_THAT(first.body, Not(HasSubstr("orders")));
    const auto again =
        send(address, order("web", std::to_string(std::hash<std::string>{}(key)), body));
    EXPECT_EQ(again.status, 422);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  }
  EXPECT_EQ(orders(), 0);
  EXPECT_EQ(database().count("hookgate.events WHERE status = 'done' AND last_error IS NOT NULL"),
            3);
}

TEST_F(IdempotencyKeyTest, ATransientFailureStoresNothingAndTheRetrySucceeds) {
  const auto address = start_gateway(config());
  database().execute("ALTER TABLE orders RENAME TO orders_away");
  const auto failed = send(address, order("web", "K1"));
  EXPECT_EQ(failed.status, 503);
  EXPECT_NE(failed.header("Retry-After"), "");
  EXPECT_EQ(database().count("hookgate.events"), 0);
  EXPECT_EQ(database().count("hookgate.answers"), 0);
  database().execute("ALTER TABLE orders_away RENAME TO orders");
  const auto retried = send(address, order("web", "K1"));
  EXPECT_EQ(retried.status, 201);
  EXPECT_EQ(retried.header("Idempotent-Replayed"), "");
  EXPECT_EQ(orders(), 1);
}

// Its session is ended in the middle of its statement, as a crash of the server would.
TEST_F(IdempotencyKeyTest, ALostSessionStoresNothing) {
  const auto address = start_gateway(config());
  HttpResult first;
  std::thread sender;
  {
    Connection blocker{database().url(), {}};
    pqxx::work lock{blocker.raw()};
    lock.exec("LOCK TABLE orders IN EXCLUSIVE MODE");
    sender = std::thread{[&] { first = send(address, order("web", "K1")); }};
    wait_until_blocked();
    database().execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
        "datname = current_database()");
    sender.join();
  }
  EXPECT_EQ(first.status, 503);
  EXPECT_EQ(orders(), 0);
  EXPECT_EQ(send(address, order("web", "K1")).status, 201);
  EXPECT_EQ(orders(), 1);
}

TEST_F(IdempotencyKeyTest, AProcessKilledInTheMiddleLeavesNothing) {
  const auto file =
      std::string{testing::TempDir()} + "idempotency_" + std::to_string(::getpid()) + ".toml";
  std::ofstream{file} << config();
  GatewayProcess process{{"serve", "--config", file}};
  const auto address = process.public_address();
  std::thread sender;
  {
    Connection blocker{database().url(), {}};
    pqxx::work lock{blocker.raw()};
    lock.exec("LOCK TABLE orders IN EXCLUSIVE MODE");
    sender = std::thread{[&] { send(address, order("web", "K1")); }};
    wait_until_blocked();
    process.kill_now();
    sender.join();
  }
  // The server notices the lost client when it answers, and rolls back.
  ASSERT_TRUE(within_10_s([&] {
    return database().count(
               "pg_stat_activity WHERE application_name = 'hookgate' AND datname = "
               "current_database() AND state <> 'idle' AND pid <> pg_backend_pid()") == 0;
  }));
  EXPECT_EQ(orders(), 0);
  const auto retried = send(start_gateway(config()), order("web", "K1"));
  EXPECT_EQ(retried.status, 201);
  EXPECT_EQ(retried.header("Idempotent-Replayed"), "");
  EXPECT_EQ(orders(), 1);
}

TEST_F(IdempotencyKeyTest, AKeyIsForgottenAfterItsRetention) {
  set_clock(1'800'000'000);
  const auto address = start_gateway(config());
  EXPECT_EQ(send(address, order("web", "K1")).body, R"({"order_id":1})");
  drain();
  set_clock(1'800'000'000 + 3'601);
  app().run_maintenance();
  EXPECT_EQ(database().count("hookgate.answers"), 0);
  EXPECT_EQ(send(address, order("web", "K1")).body, R"({"order_id":2})");
}

TEST_F(IdempotencyKeyTest, OtherHandlersOfTheSourceRunLaterAndOnce) {
  database().execute("CREATE TABLE mails (order_key text)");
  auto text = std::string{kOrders};
  text.replace(text.find("respond = "), 0, "handlers = [\"create-order\", \"mail\"]\n");
  const auto address = start_gateway(
      config(text + "[[handler]]\nname = \"mail\"\nkind = \"sql\"\nparams = { k = \"@event_id\" }\n"
                    "statement = \"INSERT INTO mails VALUES (:k)\"\n"));
  EXPECT_EQ(send(address, order("web", "K1")).status, 201);
  drain();
  EXPECT_EQ(orders(), 1);
  EXPECT_EQ(database().value("SELECT string_agg(order_key, ',') FROM mails"), "K1");
  EXPECT_EQ(database().value("SELECT status FROM hookgate.events"), "done");
}

TEST_F(IdempotencyKeyTest, AConditionThatInsertsNothingIsARefusal) {
  auto text = std::string{kOrders};
  text.replace(text.find("VALUES (:client, :product, :quantity::int)"), 42,
               "SELECT :client, :product, :quantity::int WHERE :quantity::int < 100");
  const auto address = start_gateway(config(text));
  EXPECT_EQ(send(address, order("web", "K1", R"({"product":"book","quantity":100})")).status, 422);
  EXPECT_EQ(send(address, order("web", "K2")).status, 201);
}

TEST_F(IdempotencyKeyTest, WithoutAResponderTheRequestIsStoredAndRepeated) {
  auto text = std::string{kOrders};
  text.replace(text.find("respond = "), 10, "handlers = [");
  text.replace(text.find("\"create-order\"\n"), 14, "\"create-order\"]");
  const auto address = start_gateway(config(text));
  const auto first = send(address, order("web", "K1"));
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, R"({"status":"accepted","events":[{"id":"K1","status":"accepted"}]})");
  EXPECT_EQ(send(address, order("web", "K1")).header("Idempotent-Replayed"), "true");
  EXPECT_EQ(send(address, order("web", "K1", R"({"product":"x","quantity":1})")).status, 422);
  drain();
  EXPECT_EQ(orders(), 1);
}

TEST_F(IdempotencyKeyTest, TheExampleDoesWhatItsReadmeSays) {
  const std::string folder = std::string{HOOKGATE_SOURCE_DIR} + "/examples/orders/";
  const auto content = [&](const char* name) {
    std::ifstream file{folder + name};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  database().execute("DROP TABLE orders");
  const auto schema = content("schema.sql");
  const auto second = schema.find("CREATE TABLE mails");
  database().execute(schema.substr(0, second));
  database().execute(schema.substr(second));
  setenv("DATABASE_URL", database().url().reveal().c_str(), 1);
  setenv("WEB_KEY", "invented-web-key", 1);
  setenv("MOBILE_KEY", "invented-mobile-key", 1);
  auto text = content("hookgate.toml");
  text.replace(text.find("127.0.0.1:8080"), 14, "127.0.0.1:0");
  const auto address = start_gateway(text + "[admin]\nlisten = \"127.0.0.1:0\"\n");

  EXPECT_EQ(send(address, order("web", "K1")).body, R"({"order_id":1})");
  EXPECT_EQ(send(address, order("web", "K1", R"({"quantity": 2, "product": "book"})"))
                .header("Idempotent-Replayed"),
            "true");
  EXPECT_EQ(send(address, order("web", "K1", R"({"product":"book","quantity":3})")).status, 422);
  EXPECT_EQ(send(address, order("mobile", "K1")).body, R"({"order_id":2})");
  EXPECT_EQ(send(address, order("web", "K2", R"({"product":"book","quantity":0})")).status, 422);
  drain();
  EXPECT_EQ(database().value("SELECT string_agg(client_id, ' ' ORDER BY client_id) FROM mails"),
            "mobile web");
}

// A decision that the provider waits for.
TEST_F(IdempotencyKeyTest, AnySourceCanRespond) {
  const auto address = start_gateway(
      config(source_block("stripe", "stripe", {kStripeSecret}, "respond = \"decide\"") +
             "[[handler]]\nname = \"decide\"\nkind = \"sql\"\nevents = "
             "[\"issuing_authorization.request\"]\n"
             "params = { amount = \"/data/object/amount\" }\n"
             "statement = \"SELECT :amount::bigint <= 1000 AS approved, '{\\\"a\\\":1}'::jsonb AS "
             "metadata, NULL AS none, "
             "1.50 AS rate\"\n"));
  const auto stripe = test_provider("stripe", kStripeSecret);
  const auto event = [&](const std::string& id, const std::string& type,
                         const std::string& object) {
    return signed_request(*stripe, "stripe", stripe_event(id, type, object), system_now());
  };
  const auto decided =
      send(address, event("evt_1", "issuing_authorization.request", R"({"amount":999})"));
  EXPECT_EQ(decided.status, 200);
  EXPECT_EQ(decided.body, R"({"approved":true,"metadata":{"a": 1},"none":null,"rate":1.50})");
  const auto again =
      send(address, event("evt_1", "issuing_authorization.request", R"({"amount":999})"));
  EXPECT_EQ(again.body, decided.body);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  // Other content under a provider's id is a conflict, not the sender's mistake.
  const auto conflict =
      send(address, event("evt_1", "issuing_authorization.request", R"({"amount":5})"));
  EXPECT_EQ(conflict.status, 200);
  EXPECT_THAT(conflict.body, HasSubstr("conflict"));
  EXPECT_EQ(database().count("hookgate.conflicts"), 1);
  // Another type goes the usual way.
  const auto usual = send(address, event("evt_2", "charge.succeeded", R"({"amount":5})"));
  EXPECT_THAT(usual.body, HasSubstr("\"accepted\""));
}

}  // namespace
}  // namespace hookgate
