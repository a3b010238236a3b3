#include <chrono>
#include <thread>

#include "gateway_support.h"
#include "postgres_proxy.h"

namespace hookgate {
namespace {

// What the server did is unknown, or was undone at the commit: the cases of the shared list that
// are about transactions.
class LostConnectionTest : public GatewayTest {
 protected:
  void SetUp() override {
    GatewayTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    proxy_ = std::make_unique<PostgresProxy>(database().url());
  }
  void TearDown() override {
    stop_gateways();
    proxy_.reset();
    GatewayTest::TearDown();
  }

  InboundRequest event(const std::string& id) const {
    return signed_request(*stripe_, "stripe",
                          stripe_event(id, "customer.created", R"({"id":"cus_1"})"), system_now());
  }

  std::unique_ptr<PostgresProxy> proxy_;
  std::unique_ptr<Provider> stripe_ = test_provider("stripe", kStripeSecret);
};

TEST_F(LostConnectionTest, DBX004TheAnswerToACommitIsLost) {
  const auto receiving = start_gateway(test_config(proxy_->url(), 0));
  EXPECT_EQ(send(receiving, event("evt_0")).status, 200);   // what is prepared once is prepared
  proxy_->cut_after(std::string{"\0insert_events\0", 15});  // the message that runs it
  const auto request = event("evt_1");
  EXPECT_EQ(send(receiving, request).status, 503);
  EXPECT_EQ(proxy_->cuts(), 1);
  EXPECT_EQ(database().count("hookgate.events WHERE event_id = 'evt_1'"), 1);
  HttpResult again;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (again.status != 200 && std::chrono::steady_clock::now() < deadline)
    again = send(receiving, request);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");

  start_gateway(test_config(proxy_->url(), 2));
  drain();
  proxy_->cut_after("COMMIT");
  EXPECT_EQ(send(receiving, event("evt_2")).status, 200);
  drain();
  EXPECT_EQ(proxy_->cuts(), 2);
  EXPECT_EQ(database().count("hookgate.events"), 3);
  EXPECT_EQ(effects(), 3);
  EXPECT_EQ(effects("event_id = 'evt_2'"), 1);
}

// Twice a serialization failure, once a deadlock, all at the commit.
TEST_F(LostConnectionTest, DBX005ACommitThatFailsThreeTimes) {
  database().execute("CREATE SEQUENCE commits");
  database().execute(R"sql(
    CREATE FUNCTION fail_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE n bigint := nextval('commits');
    BEGIN
      IF n <= 2 THEN RAISE EXCEPTION 'made to fail' USING ERRCODE = '40001'; END IF;
      IF n = 3 THEN RAISE EXCEPTION 'made to fail' USING ERRCODE = '40P01'; END IF;
      RETURN NULL;
    END $$)sql");
  database().execute(
      "CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON effects DEFERRABLE INITIALLY DEFERRED FOR "
      "EACH ROW EXECUTE FUNCTION fail_at_commit()");
  const auto receiver = start_gateway(test_config(
      database().url(), 2,
      source_block("stripe", "stripe", {kStripeSecret}, "handlers = [\"crm\"]") +
          "[[handler]]\nname = \"crm\"\nkind = \"forward\"\nurl = \"http://127.0.0.1:9/\"\n"
          "secret = \"" +
          std::string{kStandardSecret} + "\"\n"));
  EXPECT_EQ(send(receiver, event("evt_1")).status, 200);
  drain();
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(database().value("SELECT last_value FROM commits"), "4");
  EXPECT_EQ(database().value("SELECT failures FROM hookgate.events"), "0");
  EXPECT_EQ(database().value(
                "SELECT count(*) || ' ' || count(DISTINCT idempotency_key) FROM hookgate.outbox"),
            "1 1");
}

}  // namespace
}  // namespace hookgate
