#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "handlers/forward/forward.h"
#include "outbox/http_sender.h"
#include "outbox/outbox.h"
#include "providers/registry.h"
#include "receiver.h"
#include "store/event_store.h"
#include "test_database.h"
#include "worker/event_runner.h"

namespace hookgate {

// Invented: base64 of "invented-for-tests-only-0001".
inline constexpr auto kForwardSecret = "whsec_aW52ZW50ZWQtZm9yLXRlc3RzLW9ubHktMDAwMQ==";

inline std::unique_ptr<Provider> forward_signer() {
  ProviderSettings settings;
  settings.secrets.emplace_back(kForwardSecret);
  return make_provider("standard-webhooks", settings);
}

class OutboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HOOKGATE_REQUIRE_DATABASE();
    database_ = std::make_unique<TestDatabase>();
    PoolSettings settings;
    settings.url = database_->url();
    pool_ = std::make_unique<ConnectionPool>(settings);
    relay_settings_.backoff = {std::chrono::milliseconds{0}, std::chrono::milliseconds{0}};
    relay_settings_.poll_interval = std::chrono::milliseconds{50};
  }

  TestDatabase& database() { return *database_; }

  // A row as a handler writes it.
  std::int64_t write(const std::string& key, const std::string& destination = "crm",
                     const std::string& subject = "") {
    return std::stoll(database().value(
        "INSERT INTO hookgate.outbox (destination, idempotency_key, event, subject, event_type, "
        "content_type, body) VALUES ('" +
        destination + "', '" + key + "', 1, '" + subject +
        "', 'charge.succeeded', 'application/json', '{}') RETURNING id"));
  }
  std::string of(const std::string& key, const std::string& column) {
    return database().value("SELECT " + column +
                            "::text FROM hookgate.outbox WHERE idempotency_key = '" + key + "'");
  }

  std::unique_ptr<HttpSender> sender_to(const std::string& url,
                                        std::chrono::milliseconds timeout = std::chrono::seconds{
                                            10}) {
    HttpSenderSettings settings;
    settings.url = std::get<HttpUrl>(parse_http_url(url));
    settings.timeout = timeout;
    return std::make_unique<HttpSender>(settings, forward_signer(), system_now);
  }
  std::unique_ptr<Relay> relay(std::unique_ptr<MessageSender> sender,
                               const std::string& destination = "crm") {
    auto settings = relay_settings_;
    settings.destination = destination;
    return std::make_unique<Relay>(*pool_, *pool_, std::move(sender), settings);
  }
  std::unique_ptr<Relay> relay_to(const Receiver& receiver) {
    return relay(sender_to(receiver.url()));
  }
  // Sends all that is due; how many tries that took.
  static int run_all(Relay& relay) {
    int tries = 0;
    while (relay.run_once().sent) ++tries;
    return tries;
  }

  RelaySettings relay_settings_{};
  std::unique_ptr<ConnectionPool> pool_;

 private:
  std::unique_ptr<TestDatabase> database_;
};

}  // namespace hookgate
