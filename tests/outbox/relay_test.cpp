#include "outbox/relay.h"

#include <atomic>
#include <future>
#include <set>

#include "metrics_text.h"
#include "outbox_test_support.h"
#include "raw_server.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;

using RelayTest = OutboxTest;

// Answers `first` to the first request of each key and 204 afterwards.
Receiver::Respond at_first(Answer first) {
  return [first](const InboundRequest&, std::size_t number) {
    return number == 1 ? first : Answer{204, "", "", {}};
  };
}

// Waits for a state of the database, which can only be polled.
bool eventually(const std::function<bool()>& condition) {
  const auto deadline = SteadyClock::now() + seconds{20};
  while (!condition()) {
    if (SteadyClock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds{10});
  }
  return true;
}

// Takes as long as the test wants.
class GatedSender final : public MessageSender {
 public:
  SendResult send(const OutgoingMessage& message, const std::stop_token& abort) override {
    keys.push_back(message.idempotency_key);
    arrived.set_value();
    auto opened = gate.get_future();
    while (opened.wait_for(milliseconds{5}) != std::future_status::ready) {
      if (abort.stop_requested()) return {.kind = SendResult::Kind::kAborted, .reason = "cut off"};
    }
    return {.kind = SendResult::Kind::kDelivered};
  }
  milliseconds time_limit() const override { return seconds{1}; }

  std::vector<std::string> keys;
  std::promise<void> arrived;
  std::promise<void> gate;
};

TEST_F(RelayTest, SendsEachMessageOnceAndMarksItSent) {
  Receiver receiver;
  for (const auto* key : {"k1", "k2", "k3"}) write(key);
  EXPECT_EQ(run_all(*relay_to(receiver)), 3);
  EXPECT_EQ(receiver.requests().size(), 3U);
  EXPECT_EQ(database().count("hookgate.outbox WHERE status = 'sent' AND sent_at IS NOT NULL AND "
                             "claim_token IS NULL AND attempts = 1 AND last_error IS NULL"),
            3);
}

TEST_F(RelayTest, LeavesOtherDestinationsAlone) {
  Receiver receiver;
  write("k1", "mail");
  EXPECT_EQ(run_all(*relay_to(receiver)), 0);
  EXPECT_EQ(of("k1", "status"), "pending");
}

TEST_F(RelayTest, SharesTheMessagesBetweenManySendersWithoutSendingOneTwice) {
  Receiver receiver;
  database().execute(
      "INSERT INTO hookgate.outbox (destination, idempotency_key, event, subject, event_type, "
      "content_type, body) SELECT 'crm', 'k' || i, i, '', 't', 'application/json', '{}' FROM "
      "generate_series(1, 200) i");
  auto first = relay_to(receiver);
  auto second = relay_to(receiver);
  first->start();
  second->start();
  EXPECT_TRUE(
      eventually([&] { return database().count("hookgate.outbox WHERE status = 'sent'") == 200; }));
  EXPECT_EQ(receiver.requests().size(), 200U);
  std::set<std::string> keys;
  for (const auto& request : receiver.requests()) keys.insert(header_of(request, "webhook-id"));
  EXPECT_EQ(keys.size(), 200U);
}

TEST_F(RelayTest, TriesAgainUnderTheSameKeyAfterAFailure) {
  Receiver receiver{at_first({500, "text/plain", "no paper", {}})};
  write("k1");
  auto relay = relay_to(receiver);
  EXPECT_TRUE(relay->run_once().sent);
  EXPECT_EQ(of("k1", "status"), "pending");
  EXPECT_EQ(of("k1", "last_error"), "HTTP 500: no paper");
  EXPECT_TRUE(relay->run_once().sent);
  EXPECT_EQ(of("k1", "status"), "sent");
  EXPECT_EQ(of("k1", "attempts"), "2");
  EXPECT_EQ(of("k1", "last_error"), "NULL");
  EXPECT_EQ(header_of(receiver.requests().at(1), "Idempotency-Key"), "k1");
}

TEST_F(RelayTest, WaitsLongerAfterEveryFailure) {
  Receiver receiver{[](auto&, auto) { return Answer{404, "", "", {}}; }};
  relay_settings_.backoff = {seconds{100}, seconds{10'000}};
  write("k1");
  auto relay = relay_to(receiver);
  const auto wait_after = [&](int attempts) {
    database().execute("UPDATE hookgate.outbox SET due_at = now(), attempts = " +
                       std::to_string(attempts - 1));
    EXPECT_TRUE(relay->run_once().sent);
    return std::stod(
        database().value("SELECT extract(epoch FROM due_at - now()) FROM hookgate.outbox"));
  };
  EXPECT_LE(wait_after(1), 100);
  EXPECT_GE(wait_after(8), 900);  // a tenth of the cap at least
}

TEST_F(RelayTest, WaitsAsLongAsABusyReceiverAsksAndSoDoTheOthers) {
  Receiver receiver{at_first({503, "", "", {{"Retry-After", "600"}}})};
  write("k1");
  write("k2");
  auto relay = relay_to(receiver);
  EXPECT_EQ(run_all(*relay), 1);
  EXPECT_EQ(database().count("hookgate.outbox WHERE idempotency_key = 'k1' AND due_at BETWEEN "
                             "now() + interval '590 s' AND now() + interval '610 s'"),
            1);
  EXPECT_EQ(of("k2", "attempts"), "0");
}

TEST_F(RelayTest, GivesUpAfterSoManyTriesAndKeepsTheMessage) {
  Receiver receiver{[](auto&, auto) { return Answer{410, "", "", {}}; }};
  relay_settings_.attempts_max = 3;
  relay_settings_.breaker.failures_max = 100;
  write("k1");
  EXPECT_EQ(run_all(*relay_to(receiver)), 3);
  EXPECT_EQ(of("k1", "status"), "dead");
  EXPECT_EQ(of("k1", "last_error"), "HTTP 410");
  EXPECT_EQ(receiver.requests().size(), 3U);
}

TEST_F(RelayTest, DoesNotTryAMessageWhoseLastTryWasCutOff) {
  Receiver receiver;
  relay_settings_.attempts_max = 3;
  write("k1");
  database().execute("UPDATE hookgate.outbox SET attempts = 3, claim_token = 1");
  run_all(*relay_to(receiver));
  EXPECT_EQ(of("k1", "status"), "dead");
  EXPECT_EQ(receiver.requests().size(), 0U);
}

// A sender is stopped between the answer and the record, until its lease has ended: the message
// goes out twice, under one key, and the late sender changes nothing.
TEST_F(RelayTest, ALateSenderRecordsNothing) {
  Metrics metrics;
  relay_settings_.metrics = &metrics;
  auto gated = std::make_unique<GatedSender>();
  auto& gate = *gated;
  Receiver receiver{[](auto&, auto) { return Answer{500, "", "", {}}; }};
  write("k1");
  auto late = relay(std::move(gated));
  auto running = std::async(std::launch::async, [&] { return late->run_once().sent; });
  gate.arrived.get_future().wait();
  EXPECT_FALSE(relay_to(receiver)->run_once().sent);  // the lease holds
  database().execute("UPDATE hookgate.outbox SET due_at = now()");
  relay_settings_.backoff = {seconds{100}, seconds{100}};
  EXPECT_TRUE(relay_to(receiver)->run_once().sent);
  gate.gate.set_value();
  EXPECT_TRUE(running.get());
  EXPECT_EQ(of("k1", "status"), "pending");
  EXPECT_EQ(of("k1", "attempts"), "2");
  EXPECT_EQ(of("k1", "last_error"), "HTTP 500");
  EXPECT_EQ(gate.keys.at(0), header_of(receiver.requests().at(0), "webhook-id"));
  const MetricsText text{metrics.text()};
  EXPECT_EQ(text.value(R"(hookgate_outbox_sends_total{destination="crm",outcome="lost"})"), 1);
  EXPECT_EQ(text.value(R"(hookgate_outbox_sends_total{destination="crm",outcome="failed"})"), 1);
}

TEST_F(RelayTest, SparesADestinationThatFailsAndTriesItsTriesLater) {
  std::atomic<int> status = 500;
  Receiver receiver{[&](auto&, auto) { return Answer{status.load(), "", "", {}}; }};
  relay_settings_.breaker = {
      .failures_max = 3, .pause_first = milliseconds{300}, .pause_max = milliseconds{300}};
  relay_settings_.backoff = {seconds{100}, seconds{100}};
  for (const auto* key : {"k1", "k2", "k3", "k4", "k5"}) write(key);
  auto relay = relay_to(receiver);
  EXPECT_EQ(run_all(*relay), 3);
  EXPECT_EQ(database().count("hookgate.outbox WHERE attempts = 0"), 2);
  status = 204;
  EXPECT_TRUE(eventually([&] { return relay->run_once().sent; }));  // the probe
  EXPECT_TRUE(relay->run_once().sent);
  EXPECT_EQ(database().count("hookgate.outbox WHERE status = 'sent'"), 2);
}

TEST_F(RelayTest, ASlowDestinationDoesNotHoldUpAnother) {
  RawServer silent{[](int socket) {
    while (!read_request(socket).empty()) {
    }
  }};
  Receiver receiver;
  for (int i = 0; i < 20; ++i) {
    write("slow" + std::to_string(i), "slow");
    write("quick" + std::to_string(i), "quick");
  }
  PoolSettings sessions;
  sessions.url = database().url();
  sessions.connections_max = 2;
  const auto destination = [&](const std::string& name, const std::string& url) {
    auto settings = relay_settings_;
    settings.destination = name;
    return OutboxDestination{settings, sender_to(url, milliseconds{1'500})};
  };
  std::vector<OutboxDestination> destinations;
  destinations.push_back(
      destination("slow", "http://127.0.0.1:" + std::to_string(silent.port()) + "/"));
  destinations.push_back(destination("quick", receiver.url()));
  Outbox outbox{sessions, sessions, std::move(destinations)};
  const auto began = SteadyClock::now();
  outbox.start();
  EXPECT_TRUE(receiver.wait_for(20));
  EXPECT_LT(SteadyClock::now() - began, milliseconds{1'400});
  EXPECT_EQ(database().count("hookgate.outbox WHERE destination = 'slow' AND attempts > 1"), 0);
  // Cut at the time limit, the slow one's tries have failed.
  EXPECT_TRUE(eventually([&] {
    return database().count("hookgate.outbox WHERE last_error = 'no answer in time'") >= 4;
  }));
  outbox.stop(SteadyClock::now());
}

TEST_F(RelayTest, KeepsTheOrderOfASubjectWhereToldTo) {
  Receiver receiver{at_first({500, "", "", {}})};
  relay_settings_.ordered = true;
  relay_settings_.backoff = {seconds{100}, seconds{100}};
  write("a1", "crm", "pi_a");
  write("a2", "crm", "pi_a");
  write("b1", "crm", "pi_b");
  write("none1");
  write("none2");
  auto relay = relay_to(receiver);
  EXPECT_EQ(run_all(*relay), 4);
  EXPECT_EQ(of("a1", "status"), "pending");
  EXPECT_EQ(of("a2", "attempts"), "0");
  EXPECT_EQ(database().count("hookgate.outbox WHERE status = 'sent'"), 3);
  database().execute("UPDATE hookgate.outbox SET due_at = now() WHERE status = 'pending'");
  EXPECT_EQ(run_all(*relay), 2);
  EXPECT_EQ(header_of(receiver.requests().at(4), "webhook-id"), "a1");
  EXPECT_EQ(header_of(receiver.requests().at(5), "webhook-id"), "a2");
}

TEST_F(RelayTest, KeepsTheOrderAlsoBehindAMessageThatIsBeingSent) {
  relay_settings_.ordered = true;
  auto gated = std::make_unique<GatedSender>();
  auto& gate = *gated;
  Receiver receiver;
  write("a1", "crm", "pi_a");
  write("a2", "crm", "pi_a");
  auto slow = relay(std::move(gated));
  auto running = std::async(std::launch::async, [&] { return slow->run_once().sent; });
  gate.arrived.get_future().wait();
  EXPECT_EQ(run_all(*relay_to(receiver)), 0);
  gate.gate.set_value();
  EXPECT_TRUE(running.get());
  EXPECT_EQ(run_all(*relay_to(receiver)), 1);
}

TEST_F(RelayTest, ADeadMessageDoesNotHoldItsSubjectUp) {
  Receiver receiver;
  relay_settings_.ordered = true;
  write("a1", "crm", "pi_a");
  write("a2", "crm", "pi_a");
  database().execute("UPDATE hookgate.outbox SET status = 'dead' WHERE idempotency_key = 'a1'");
  EXPECT_EQ(run_all(*relay_to(receiver)), 1);
  EXPECT_EQ(of("a2", "status"), "sent");
}

TEST_F(RelayTest, SendsWithoutOrderByDefault) {
  Receiver receiver{at_first({500, "", "", {}})};
  relay_settings_.backoff = {seconds{100}, seconds{100}};
  write("a1", "crm", "pi_a");
  write("a2", "crm", "pi_a");
  EXPECT_EQ(run_all(*relay_to(receiver)), 2);
  EXPECT_EQ(of("a2", "status"), "sent");
}

TEST_F(RelayTest, IsWokenAtOnce) {
  Receiver receiver;
  relay_settings_.poll_interval = seconds{600};
  auto relay = relay_to(receiver);
  relay->start();
  for (std::size_t i = 1; i <= 5; ++i) {
    write("k" + std::to_string(i));
    relay->wake();
    ASSERT_TRUE(receiver.wait_for(i)) << i;
  }
}

TEST_F(RelayTest, FindsAMessageThatNobodyTellsItOf) {
  Receiver receiver;
  relay_settings_.concurrency = 1;
  auto relay = relay_to(receiver);
  relay->start();
  // It has looked once, and found nothing.
  EXPECT_TRUE(eventually([&] {
    return database().count(
               "pg_stat_activity WHERE datname = current_database() AND state = 'idle' AND "
               "query LIKE '%FOR UPDATE SKIP LOCKED%'") == 1;
  }));
  write("k1");
  EXPECT_TRUE(receiver.wait_for(1));
}

TEST_F(RelayTest, LetsATryUnderWayEndWhenItStops) {
  auto gated = std::make_unique<GatedSender>();
  auto& gate = *gated;
  write("k1");
  write("k2");
  relay_settings_.concurrency = 1;
  auto relay = this->relay(std::move(gated));
  relay->start();
  gate.arrived.get_future().wait();
  relay->request_stop();
  auto stopping =
      std::async(std::launch::async, [&] { relay->stop(SteadyClock::now() + seconds{30}); });
  gate.gate.set_value();
  ASSERT_EQ(stopping.wait_for(seconds{20}), std::future_status::ready);
  EXPECT_EQ(of("k1", "status"), "sent");
  EXPECT_EQ(of("k2", "attempts"), "0");
}

TEST_F(RelayTest, CutsATryOffThatDoesNotEndInTime) {
  auto gated = std::make_unique<GatedSender>();
  auto& gate = *gated;
  write("k1");
  relay_settings_.concurrency = 1;
  auto relay = this->relay(std::move(gated));
  relay->start();
  gate.arrived.get_future().wait();
  relay->stop(SteadyClock::now() + milliseconds{50});
  EXPECT_EQ(of("k1", "status"), "pending");
  EXPECT_EQ(of("k1", "claim_token"), "NULL");
  EXPECT_EQ(database().count("hookgate.outbox WHERE due_at <= now()"), 1);
}

TEST_F(RelayTest, StartsAndStopsAtAnyMoment) {
  Receiver receiver;
  for (int i = 0; i < 20; ++i) {
    auto relay = relay_to(receiver);
    relay->start();
    relay->wake();
    if (i % 2 == 0) relay->stop(SteadyClock::now() + seconds{5});
    if (i % 4 == 0) relay->stop(SteadyClock::now());
  }
  relay_to(receiver)->stop(SteadyClock::now());
}

}  // namespace
}  // namespace hookgate
