#include <algorithm>
#include <thread>

#include "gateway_support.h"

namespace hookgate {
namespace {

class OnceTest : public GatewayTest {
 protected:
  std::unique_ptr<Provider> stripe_ = test_provider("stripe", kStripeSecret);

  std::vector<HttpResult> send_at_once(const std::vector<std::string>& addresses,
                                       const InboundRequest& request, int copies) {
    std::vector<HttpResult> results(static_cast<std::size_t>(copies));
    std::atomic<int> ready = 0;
    std::vector<std::thread> threads;
    threads.reserve(results.size());
    for (int i = 0; i < copies; ++i) {
      threads.emplace_back([&, i] {
        HttpSession session{addresses[static_cast<std::size_t>(i) % addresses.size()]};
        ++ready;
        while (ready < copies) std::this_thread::yield();
        results[static_cast<std::size_t>(i)] = session.send(request);
      });
    }
    for (auto& thread : threads) thread.join();
    return results;
  }

  void expect_one_winner(const std::vector<HttpResult>& results) {
    EXPECT_TRUE(std::ranges::all_of(results,
                                    [](const HttpResult& result) { return result.status == 200; }));
    EXPECT_EQ(
        std::ranges::count_if(
            results, [](const HttpResult& r) { return r.header("Idempotent-Replayed").empty(); }),
        1);
    drain();
    EXPECT_EQ(database().count("hookgate.events"), 1);
    EXPECT_EQ(database().value("SELECT deliveries FROM hookgate.events"),
              std::to_string(results.size()));
    EXPECT_EQ(effects(), 1);
  }

  InboundRequest a_request() {
    return signed_request(
        *stripe_, "stripe",
        stripe_event(
            "evt_1", "payment_intent.succeeded",
            R"({"id":"pi_1","object":"payment_intent","amount":1000,"amount_received":1000,"currency":"eur","status":"succeeded"})"),
        system_now());
  }
};

TEST_F(OnceTest, FiftyCopiesOverFiftyConnectionsHaveOneEffect) {
  const auto address = start_gateway();
  expect_one_winner(send_at_once({address}, a_request(), 50));
}

TEST_F(OnceTest, FiftyCopiesOverTwoGatewaysOnOneDatabaseHaveOneEffect) {
  const auto first = start_gateway();
  const auto second = start_gateway();
  expect_one_winner(send_at_once({first, second}, a_request(), 50));
}

TEST_F(OnceTest, ADuplicateAfterARestartIsStillADuplicate) {
  const auto request = a_request();
  send(start_gateway(), request);
  stop_gateways();
  EXPECT_EQ(send(start_gateway(), request).header("Idempotent-Replayed"), "true");
  drain();
  EXPECT_EQ(effects(), 1);
}

TEST_F(OnceTest, AnEventStoredByAProcessWithoutWorkersIsRunByAnother) {
  const auto receiving = start_gateway(test_config(database().url(), 0));
  start_gateway(test_config(database().url(), 2));
  send(receiving, a_request());
  drain(10);
  EXPECT_EQ(effects(), 1);
}

TEST_F(OnceTest, AnEventThatWaitedForHoursIsNotJudgedAgain) {
  set_clock(1'700'000'000);
  const auto receiving = start_gateway(test_config(database().url(), 0));
  const auto request = signed_request(*stripe_, "stripe", stripe_event("evt_1", "x.y", "{}"),
                                      SystemTime{std::chrono::seconds{1'700'000'000}});
  EXPECT_EQ(send(receiving, request).status, 200);
  set_clock(1'700'007'200);
  start_gateway(test_config(database().url(), 2));
  drain();
  EXPECT_EQ(effects(), 1);
}

// The clock of retention is the gateway's: after a month the body is gone and the key still guards.
TEST_F(OnceTest, ARedeliveryAfterAMonthIsStillADuplicate) {
  const auto body = stripe_event("evt_1", "x.y", "{}", 1'700'000'000);
  const auto at = [](long long unix_time) { return SystemTime{std::chrono::seconds{unix_time}}; };
  set_clock(1'700'000'000);
  const auto address = start_gateway();
  send(address, signed_request(*stripe_, "stripe", body, at(1'700'000'000)));
  drain();
  set_clock(1'702'678'400);  // 31 days later
  app().run_maintenance();
  EXPECT_EQ(database().count("hookgate.event_bodies"), 0);
  const auto answer = send(address, signed_request(*stripe_, "stripe", body, at(1'702'678'400)));
  EXPECT_EQ(answer.header("Idempotent-Replayed"), "true");
  drain();
  EXPECT_EQ(effects(), 1);
}

// Keys count from the last sighting: the redelivery above has made the key young again.
TEST_F(OnceTest, ForgetsAKeyOnlyItsRetentionAfterTheLastSighting) {
  const auto at = [](long long unix_time) { return SystemTime{std::chrono::seconds{unix_time}}; };
  constexpr long long kDay = 86'400;
  constexpr long long kStart = 1'700'000'000;
  const auto body = stripe_event("evt_1", "x.y", "{}", kStart);
  set_clock(kStart);
  const auto address = start_gateway();
  send(address, signed_request(*stripe_, "stripe", body, at(kStart)));
  drain();
  set_clock(kStart + 30 * kDay);
  send(address, signed_request(*stripe_, "stripe", body, at(kStart + 30 * kDay)));
  set_clock(kStart + 60 * kDay);
  app().run_maintenance();
  EXPECT_EQ(database().count("hookgate.events"), 1);
  set_clock(kStart + 66 * kDay);
  app().run_maintenance();
  EXPECT_EQ(database().count("hookgate.events"), 0);
}

}  // namespace
}  // namespace hookgate
