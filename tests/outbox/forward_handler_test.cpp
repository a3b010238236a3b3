#include <algorithm>

#include "outbox_test_support.h"
#include "store/pooled_event_queue.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;

class FailingHandler final : public Handler {
 public:
  std::string_view name() const override { return "failing"; }
  Outcome handle(const Event& event, HandlerContext&) override {
    if (event.event_id == "bad") return GiveUp{"is bad"};
    return Done{};
  }
};

class ForwardHandlerTest : public OutboxTest {
 protected:
  void store(const std::string& id, const std::string& body = "{}",
             const std::string& head = "POST / HTTP/1.1\r\nContent-Type: application/json\r\n") {
    auto request = std::make_shared<Delivery::Request>();
    request->source = "stripe";
    request->head = head;
    request->body = body;
    request->received_at = *parse_instant("2026-01-01T00:00:00.123456Z");
    Delivery delivery;
    delivery.request = request;
    delivery.event.event_id = id;
    delivery.event.event_type = "charge.succeeded";
    delivery.event.subject = "pi_1";
    auto lease = pool_->acquire();
    events_.record(*lease, std::vector{delivery});
  }
  void run(std::vector<Handler*> handlers) {
    RunnerSettings settings;
    settings.backoff = {milliseconds{0}, milliseconds{0}};
    PooledEventQueue queue{*pool_, *pool_};
    EventRunner runner{queue, {{"stripe", "stripe", std::move(handlers)}}, system_now, settings};
    while (runner.run_once() > 0) {
    }
  }
  std::string column(const std::string& name) {
    return database().value("SELECT " + name + "::text FROM hookgate.outbox");
  }

  ForwardHandler handler_{"crm", false};

 private:
  EventStore events_;
};

TEST_F(ForwardHandlerTest, WritesOneMessageForAnEvent) {
  store("evt_1", std::string{"{\"a\": \0\xFF}", 9});
  run({&handler_});
  EXPECT_EQ(database().count("hookgate.outbox"), 1);
  EXPECT_EQ(column("destination"), "crm");
  EXPECT_EQ(column("status"), "pending");
  EXPECT_EQ(column("subject"), "pi_1");
  EXPECT_EQ(column("event_type"), "charge.succeeded");
  EXPECT_EQ(column("encode(body, 'hex')"), "7b2261223a2000ff7d");
  EXPECT_EQ(
      database().value("SELECT event = (SELECT id FROM hookgate.events) FROM hookgate.outbox"),
      "t");
}

TEST_F(ForwardHandlerTest, NamesTheMessageAfterTheEventsOwnRow) {
  store("evt_1");
  run({&handler_});
  const auto id = database().value("SELECT id FROM hookgate.events");
  EXPECT_EQ(column("idempotency_key"), "crm-" + id + "-1767225600123456");
}

TEST_F(ForwardHandlerTest, TakesTheContentTypeThatTheSenderNamed) {
  store("evt_1", "a=b",
        "POST /webhooks/x HTTP/1.1\r\nHost: a\r\ncontent-TYPE:  text/plain; charset=utf-8 "
        "\r\nX-Content-Type: no\r\n");
  run({&handler_});
  EXPECT_EQ(column("content_type"), "text/plain; charset=utf-8");
}

TEST_F(ForwardHandlerTest, TakesJsonForAContentTypeThatIsMissingOrNotPlain) {
  store("evt_1", "{}", "POST / HTTP/1.1\r\n");
  store("evt_2", "{}", "POST / HTTP/1.1\r\nContent-Type: text/\xFF\\x\r\n");
  run({&handler_});
  EXPECT_EQ(database().count("hookgate.outbox WHERE content_type = 'application/json'"), 2);
}

TEST_F(ForwardHandlerTest, WritesNothingThatIsNotCommitted) {
  FailingHandler failing;
  store("evt_1");
  store("bad");
  run({&handler_, &failing});
  // A batch whose neighbour fails is rolled back and run anew; either is there once.
  EXPECT_EQ(database().count("hookgate.outbox"), 2);
  auto lease = pool_->acquire();
  in_event_transaction(*lease, [&](EventTransaction& transaction) {
    Event event;
    event.id = 77;
    HandlerContext context{transaction.sql(), system_now()};
    handler_.handle(event, context);
  });
  EXPECT_EQ(database().count("hookgate.outbox"), 2);
}

TEST_F(ForwardHandlerTest, WritesNoSecondMessageWhenItIsRunAgain) {
  store("evt_1");
  run({&handler_});
  database().execute(
      "UPDATE hookgate.events SET status = 'pending', finished = '', due_at = now()");
  run({&handler_});
  EXPECT_EQ(database().count("hookgate.outbox"), 1);
  EXPECT_EQ(database().value("SELECT status FROM hookgate.events"), "done");
}

TEST_F(ForwardHandlerTest, TwoDestinationsHaveAMessageEach) {
  ForwardHandler mail{"mail", false};
  store("evt_1");
  run({&handler_, &mail});
  EXPECT_EQ(database().count("hookgate.outbox"), 2);
}

TEST_F(ForwardHandlerTest, TellsTheThreadThatItWrote) {
  const auto before = ForwardHandler::written_by_this_thread();
  store("evt_1");
  run({&handler_});
  EXPECT_GT(ForwardHandler::written_by_this_thread(), before);
}

TEST(ForwardKeyTest, HasNoDotAndIsShortForAnyName) {
  Event event;
  event.id = std::numeric_limits<std::int64_t>::max();
  event.received_at = *parse_instant("9999-12-31T23:59:59.999999Z");
  const auto key = forward_key(std::string(64, 'a'), event);
  EXPECT_LE(key.size(), 255U);
  EXPECT_EQ(key.find('.'), std::string::npos);
}

TEST(ForwardOrderTest, LocksTheSubjectOnlyWhereTheOrderIsKept) {
  Event event;
  event.subject = "pi_1";
  EXPECT_TRUE((ForwardHandler{"crm", false}.lock_keys(event).empty()));
  EXPECT_EQ((ForwardHandler{"crm", true}.lock_keys(event)),
            std::vector<std::string>{"forward:crm:pi_1"});
  event.subject.clear();
  EXPECT_TRUE((ForwardHandler{"crm", true}.lock_keys(event).empty()));
}

}  // namespace
}  // namespace hookgate
