#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "dev/private_postgres.h"
#include "gateway_support.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

std::string payment_event(int number) {
  const auto n = std::to_string(number);
  return stripe_event("evt_kill_" + n, "payment_intent.succeeded",
                      R"({"id":"pi_kill_)" + n + R"(","object":"payment_intent","amount":)" +
                          std::to_string(100 + number) + R"(,"amount_received":)" +
                          std::to_string(100 + number) +
                          R"(,"currency":"eur","status":"succeeded"})");
}

class KillTest : public GatewayTest {
 protected:
  std::filesystem::path write_config(int workers = 4) {
    auto file = std::filesystem::temp_directory_path() /
                ("hookgate-kill-" + std::to_string(::getpid()) + ".toml");
    std::ofstream{file} << test_config(database().url(), workers);
    return file;
  }

  // Sends events 0..count-1 over `connections` connections; returns those that were acknowledged.
  // Ends early for a connection whose gateway is gone.
  std::set<int> replay(const std::string& address, int count, int connections,
                       std::atomic<int>& answered) {
    std::set<int> acknowledged;
    std::mutex mutex;
    std::atomic<int> next = 0;
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(connections));
    for (int i = 0; i < connections; ++i) {
      threads.emplace_back([&] {
        HttpSession session{address};
        for (int number = next++; number < count; number = next++) {
          const auto result =
              session.send(signed_request(*stripe_, "stripe", payment_event(number), system_now()));
          ++answered;
          if (result.status == 0) return;
          const std::scoped_lock lock{mutex};
          if (result.status == 200) acknowledged.insert(number);
        }
      });
    }
    for (auto& thread : threads) thread.join();
    return acknowledged;
  }

  std::unique_ptr<Provider> stripe_ = test_provider("stripe", kStripeSecret);
};

TEST_F(KillTest, LosesNoAcknowledgedEventWhenTheGatewayIsKilledInTheMiddle) {
  constexpr int kEvents = 5'000;
  const auto config = write_config();
  std::set<int> acknowledged;
  {
    GatewayProcess gateway{{"serve", "--config", config.string()}};
    const auto address = gateway.public_address();
    std::atomic<int> answered = 0;
    std::thread killer{[&] {
      while (answered < kEvents / 3) std::this_thread::yield();
      gateway.kill_now();
    }};
    acknowledged = replay(address, kEvents, 64, answered);
    killer.join();
  }
  ASSERT_GT(acknowledged.size(), 0U);
  ASSERT_LT(acknowledged.size(), static_cast<std::size_t>(kEvents));
  for (const int number : acknowledged) {
    ASSERT_EQ(database().count("hookgate.events WHERE event_id = 'evt_kill_" +
                               std::to_string(number) + "'"),
              1);
    if (number % 10 != 0) continue;  // the whole set is counted below
  }

  GatewayProcess gateway{{"serve", "--config", config.string()}};
  std::atomic<int> answered = 0;
  const auto second = replay(gateway.public_address(), kEvents, 64, answered);
  EXPECT_EQ(second.size(), static_cast<std::size_t>(kEvents));
  drain(120);
  EXPECT_EQ(database().count("hookgate.events WHERE status = 'done'"), kEvents);
  EXPECT_EQ(database().count("hookgate.payments WHERE status = 'captured' AND amount_captured = "
                             "100 + replace(payment_id, 'pi_kill_', '')::bigint"),
            kEvents);
  EXPECT_EQ(gateway.terminate(), 0);
  std::filesystem::remove(config);
}

TEST_F(KillTest, AnswersWhatItHasAndEndsWith0OnSigterm) {
  const auto config = write_config();
  GatewayProcess gateway{{"serve", "--config", config.string()}};
  const auto address = gateway.public_address();
  std::atomic<int> answered = 0;
  std::set<int> acknowledged;
  std::thread sender{[&] { acknowledged = replay(address, 3'000, 16, answered); }};
  while (answered < 300) std::this_thread::yield();
  EXPECT_EQ(gateway.terminate(), 0);
  sender.join();
  EXPECT_EQ(database().count("hookgate.events"), static_cast<std::int64_t>(acknowledged.size()));
  EXPECT_EQ(database().count("hookgate.events WHERE claim_token IS NOT NULL"), 0);
  std::filesystem::remove(config);
}

TEST_F(KillTest, ReadsSecretsAgainOnSighup) {
  const auto config = write_config();
  GatewayProcess gateway{{"serve", "--config", config.string()}};
  const auto address = gateway.public_address();
  const std::string other = "whsec_invented_for_tests_only_0003";
  std::string text = test_config(database().url());
  text.replace(text.find(kStripeSecret), std::string{kStripeSecret}.size(), other);
  std::ofstream{config} << text;
  gateway.hang_up();
  const auto provider = test_provider("stripe", other);
  const auto deadline = steady_clock::now() + seconds{20};
  int status = 0;
  while (status != 200 && steady_clock::now() < deadline) {
    status =
        send(address, signed_request(*provider, "stripe", payment_event(1), system_now())).status;
  }
  EXPECT_EQ(status, 200);
  EXPECT_EQ(gateway.terminate(), 0);
  std::filesystem::remove(config);
}

TEST_F(KillTest, RefusesToShareAPortAndSaysSo) {
  const auto config = write_config();
  GatewayProcess first{{"serve", "--config", config.string()}};
  const auto address = first.public_address();
  auto text = test_config(database().url());
  text.replace(text.find("127.0.0.1:0"), 11, address);
  const auto second_config = config.string() + ".second";
  std::ofstream{second_config} << text;
  GatewayProcess second{{"serve", "--config", second_config}};
  EXPECT_EQ(second.wait(30), 1);
  EXPECT_NE(second.output().find("cannot listen on " + address), std::string::npos)
      << second.output();
  std::filesystem::remove(config);
  std::filesystem::remove(second_config);
}

// A server of its own, which the test may stop.
class DatabaseOutageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    PrivatePostgresOptions options;
    options.data_dir =
        std::filesystem::temp_directory_path() / ("hookgate-outage-" + std::to_string(::getpid()));
    options.durable = false;
    data_dir_ = options.data_dir;
    postgres_ = std::make_unique<PrivatePostgres>(options);
    postgres_->start();
    app_ = std::make_unique<App>(parse_config(test_config(Secret{postgres_->url()}), "test.toml"));
    app_->start();
  }
  void TearDown() override {
    app_.reset();
    postgres_->stop();
    std::filesystem::remove_all(data_dir_);
  }
  HttpResult post(int number) {
    return send(app_->public_address(),
                signed_request(*stripe_, "stripe", payment_event(number), system_now()));
  }
  int get(const std::string& target) {
    InboundRequest request;
    request.method = "GET";
    request.target = target;
    return send(app_->public_address(), request).status;
  }

  std::filesystem::path data_dir_;
  std::unique_ptr<PrivatePostgres> postgres_;
  std::unique_ptr<App> app_;
  std::unique_ptr<Provider> stripe_ = test_provider("stripe", kStripeSecret);
};

TEST_F(DatabaseOutageTest, Answers503InTimeAndGoesOnWithoutARestart) {
  EXPECT_EQ(post(1).status, 200);
  postgres_->stop();
  for (int i = 0; i < 3; ++i) {
    const auto started = steady_clock::now();
    const auto answer = post(2);
    EXPECT_EQ(answer.status, 503);
    EXPECT_NE(answer.header("Retry-After"), "");
    EXPECT_LT(steady_clock::now() - started, seconds{2});
  }
  EXPECT_EQ(get("/healthz"), 200);
  EXPECT_EQ(get("/readyz"), 503);
  postgres_->start();
  const auto deadline = steady_clock::now() + seconds{5};
  int status = 0;
  while (status != 200 && steady_clock::now() < deadline) status = post(2).status;
  EXPECT_EQ(status, 200);
  EXPECT_EQ(post(1).header("Idempotent-Replayed"), "true");
}

TEST_F(DatabaseOutageTest, LosesNothingThatWasAcknowledgedWhenTheServerIsKilled) {
  std::atomic<bool> stop = false;
  std::atomic<int> number = 100;
  std::set<int> acknowledged;
  std::mutex mutex;
  std::vector<std::thread> senders;
  senders.reserve(8);
  for (int i = 0; i < 8; ++i) {
    senders.emplace_back([&] {
      while (!stop) {
        const int mine = number++;
        if (post(mine).status != 200) continue;
        const std::scoped_lock lock{mutex};
        acknowledged.insert(mine);
      }
    });
  }
  const auto count = [&] {
    const std::scoped_lock lock{mutex};
    return acknowledged.size();
  };
  while (count() < 50) std::this_thread::yield();
  postgres_->kill_now();
  postgres_->start();
  const auto before = count();
  const auto deadline = steady_clock::now() + seconds{20};
  while (count() < before + 20 && steady_clock::now() < deadline) std::this_thread::yield();
  stop = true;
  for (auto& sender : senders) sender.join();
  ASSERT_GE(count(), before + 20);
  for (const int one : acknowledged) {
    EXPECT_EQ(post(one).header("Idempotent-Replayed"), "true") << "lost: " << one;
  }
}

}  // namespace
}  // namespace hookgate
