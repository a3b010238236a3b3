#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

#include "gateway_support.h"
#include "store/connection.h"
#include "store/event_queue.h"

namespace hookgate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr auto kMarkPaid = R"toml(
[[handler]]
name = "mark-paid"
kind = "sql"
events = ["payment_intent.*"]
params = { order = "/data/object/metadata/order_id", amount = "/data/object/amount", event = "@event_id" }
required = ["order"]
statement = [
  "UPDATE orders SET status = 'paid', amount = :amount::bigint WHERE id = :order::bigint AND status = 'pending'",
  "INSERT INTO orders_log (order_id, event) VALUES (:order::bigint, :event)",
]
)toml";

class SqlHandlersTest : public GatewayTest {
 protected:
  void SetUp() override {
    GatewayTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    database().execute(
        "CREATE TABLE orders (id bigint PRIMARY KEY, status text NOT NULL, amount bigint)");
    database().execute("CREATE TABLE orders_log (order_id bigint NOT NULL, event text NOT NULL)");
    database().execute("INSERT INTO orders VALUES (7, 'pending', NULL)");
  }

  std::string config(const std::string& handler) {
    return "[server]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n[database]\nurl "
           "= \"" +
           database().url().reveal() + "\"\n[workers]\nmax_attempts = 2\n" +
           source_block("stripe", "stripe", {kStripeSecret}, "handlers = [\"mark-paid\"]") +
           source_block("adyen", "adyen", {kAdyenKey}, "handlers = [\"mark-paid\"]") + handler;
  }

  void send_event(const std::string& address, const std::string& id, const std::string& object,
                  const std::string& type = "payment_intent.succeeded") {
    const auto stripe = test_provider("stripe", kStripeSecret);
    const auto result = send(
        address, signed_request(*stripe, "stripe", stripe_event(id, type, object), system_now()));
    EXPECT_EQ(result.status, 200) << result.body;
  }

  std::string event_column(const std::string& id, const std::string& column) {
    return database().value("SELECT " + column + " FROM hookgate.events WHERE event_id = '" + id +
                            "'");
  }
};

constexpr auto kOrder7 =
    R"({"id":"pi_1","object":"payment_intent","amount":9007199254740993,"metadata":{"order_id":"7"}})";

TEST_F(SqlHandlersTest, RunsItsStatementsInOrderWithValuesOfThePayload) {
  const auto address = start_gateway(config(kMarkPaid));
  send_event(address, "evt_1", kOrder7);
  drain();
  EXPECT_EQ(database().value("SELECT status || ' ' || amount FROM orders"),
            "paid 9007199254740993");
  EXPECT_EQ(database().value("SELECT order_id || ' ' || event FROM orders_log"), "7 evt_1");
  EXPECT_EQ(event_column("evt_1", "status"), "done");
}

TEST_F(SqlHandlersTest, IgnoresTypesThatItsGlobsDoNotName) {
  const auto address = start_gateway(config(kMarkPaid));
  send_event(address, "evt_1", kOrder7, "charge.succeeded");
  drain();
  EXPECT_EQ(event_column("evt_1", "finished"), "counting,mark-paid?");
  EXPECT_EQ(database().value("SELECT status FROM orders"), "pending");
}

TEST_F(SqlHandlersTest, GivesUpWithoutARequiredValueAndSaysWhich) {
  const auto address = start_gateway(config(kMarkPaid));
  send_event(address, "evt_1", R"({"id":"pi_1","amount":1,"metadata":{"order_id":null}})");
  drain();
  EXPECT_EQ(event_column("evt_1", "status"), "dead");
  EXPECT_EQ(event_column("evt_1", "last_error"),
            "mark-paid: the payload has no 'order' (/data/object/metadata/order_id)");
  EXPECT_EQ(database().count("orders_log"), 0);
}

TEST_F(SqlHandlersTest, BindsNullForWhatIsMissingAndNotRequired) {
  const auto address = start_gateway(config(kMarkPaid));
  send_event(address, "evt_1", R"({"id":"pi_1","metadata":{"order_id":"7"}})");
  drain();
  EXPECT_EQ(database().value("SELECT amount FROM orders"), "NULL");
  EXPECT_EQ(event_column("evt_1", "status"), "done");
}

TEST_F(SqlHandlersTest, NeverRunsWhatAValueHolds) {
  const auto address = start_gateway(config(R"toml(
[[handler]]
name = "mark-paid"
kind = "sql"
params = { order = "/data/object/metadata/order_id" }
statement = "INSERT INTO orders_log VALUES (0, :order)"
)toml"));
  const std::string evil = R"('); DROP TABLE orders; --\" :order $1 %s)";
  send_event(
      address, "evt_1",
      R"({"id":"pi_1","metadata":{"order_id":"'); DROP TABLE orders; --\\\" :order $1 %s"}})");
  drain();
  EXPECT_EQ(database().value("SELECT event FROM orders_log"), evil);
  EXPECT_EQ(database().count("orders"), 1);
}

TEST_F(SqlHandlersTest, AFailingStatementUndoesTheOnesBefore) {
  const auto address = start_gateway(config(R"toml(
[[handler]]
name = "mark-paid"
kind = "sql"
params = { order = "/data/object/metadata/order_id" }
statement = ["INSERT INTO orders_log VALUES (1, 'x')", "UPDATE orders SET id = :order::bigint"]
)toml"));
  send_event(address, "evt_1", R"({"id":"pi_1","metadata":{"order_id":"seven"}})");
  drain();
  EXPECT_EQ(event_column("evt_1", "status"), "dead");
  EXPECT_EQ(event_column("evt_1", "failures"), "2");
  EXPECT_THAT(event_column("evt_1", "last_error"), HasSubstr("bigint: \"seven\""));
  EXPECT_EQ(database().count("orders_log"), 0);
}

TEST_F(SqlHandlersTest, AValueWithANulIsRefusedAndTold) {
  const auto address = start_gateway(config(kMarkPaid));
  send_event(address, "evt_1", R"({"id":"pi_1","metadata":{"order_id":"7\u0000"}})");
  drain();
  EXPECT_EQ(event_column("evt_1", "status"), "dead");
  EXPECT_THAT(event_column("evt_1", "last_error"), HasSubstr("U+0000"));
}

TEST_F(SqlHandlersTest, LooksIntoTheItemOfAnAdyenBatch) {
  const auto address = start_gateway(config(R"toml(
[[handler]]
name = "mark-paid"
kind = "sql"
params = { reference = "/merchantReference", type = "@type" }
statement = "INSERT INTO orders_log VALUES (1, :type || ' ' || :reference)"
)toml"));
  const auto adyen = test_provider("adyen", kAdyenKey);
  const auto item = [](const std::string& reference) {
    return R"({"NotificationRequestItem":{"eventCode":"AUTHORISATION","success":"true","pspReference":"PSP)" +
           reference + R"(","merchantAccountCode":"M","merchantReference":")" + reference +
           R"(","amount":{"value":1000,"currency":"EUR"},"eventDate":"2026-01-01T00:00:00+00:00"}})";
  };
  const auto body =
      R"({"live":"false","notificationItems":[)" + item("first") + "," + item("second") + "]}";
  EXPECT_EQ(send(address, signed_request(*adyen, "adyen", body, system_now())).status, 200);
  drain();
  EXPECT_EQ(database().value("SELECT string_agg(event, ', ' ORDER BY event) FROM orders_log"),
            "AUTHORISATION first, AUTHORISATION second");
}

// A prepared statement whose table changed under it is prepared anew, and nothing counts as failed.
TEST_F(SqlHandlersTest, GoesOnAfterItsTableWasAltered) {
  const auto address = start_gateway(config(R"toml(
[[handler]]
name = "mark-paid"
kind = "sql"
statement = "INSERT INTO orders_log SELECT 1, 'x' RETURNING *"
)toml"));
  for (const auto* const id : {"evt_1", "evt_2", "evt_3", "evt_4", "evt_5", "evt_6"}) {
    send_event(address, id, kOrder7);
    drain();
  }
  database().execute("ALTER TABLE orders_log ADD COLUMN more text");
  for (const auto* const id : {"evt_11", "evt_12", "evt_13", "evt_14", "evt_15", "evt_16"}) {
    send_event(address, id, kOrder7);
    drain();
  }
  EXPECT_EQ(database().count("orders_log"), 12);
  EXPECT_EQ(database().count("hookgate.events WHERE failures > 0 OR attempts > 1"), 0);
}

TEST_F(SqlHandlersTest, ATableThatIsNotThereIsAFaultOfTheConfiguration) {
  auto text = std::string{kMarkPaid};
  text.replace(text.find("INTO orders_log"), 15, "INTO orders_lug");
  try {
    start_gateway(config(text));
    FAIL() << "it started";
  } catch (const InvalidHandler& invalid) {
    EXPECT_THAT(invalid.what(), HasSubstr("relation \"orders_lug\" does not exist"));
    EXPECT_THAT(invalid.what(), HasSubstr("'statement' of [[handler]] \"mark-paid\""));
    EXPECT_THAT(invalid.what(), Not(HasSubstr("LINE 1")));
  }
}

TEST_F(SqlHandlersTest, ATypeThatDoesNotFitIsAFaultOfTheConfiguration) {
  auto text = std::string{kMarkPaid};
  text.replace(text.find(":order::bigint,"), 15, ":order::boolean,");
  EXPECT_THROW(start_gateway(config(text)), InvalidHandler);
}

TEST_F(SqlHandlersTest, AMissingPermissionIsAFaultOfTheConfiguration) {
  const auto parsed = parse_config(config(kMarkPaid), "t.toml");
  const auto handlers = make_handlers(parsed);
  const auto role = "hookgate_reader_" + std::to_string(::getpid());
  Connection connection{database().url(), {}};
  in_event_transaction(connection, [&](EventTransaction& transaction) {
    // Undone with the transaction.
    transaction.sql().execute("CREATE ROLE " + role);
    transaction.sql().execute("GRANT SELECT ON orders TO " + role);
    transaction.sql().execute("SET LOCAL ROLE " + role);
    try {
      handlers.front()->check(transaction.sql());
      FAIL() << "nothing was refused";
    } catch (const InvalidHandler& invalid) {
      EXPECT_THAT(invalid.what(), HasSubstr("permission denied for table orders"));
    }
  });
}

TEST_F(SqlHandlersTest, CheckingRunsNothing) {
  start_gateway(config(R"toml(
[[handler]]
name = "mark-paid"
kind = "sql"
statement = "DELETE FROM orders"
)toml"));
  EXPECT_EQ(database().count("orders"), 1);
}

}  // namespace
}  // namespace hookgate
