#pragma once

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "domain/event.h"
#include "store/connection_pool.h"
#include "store/event_store.h"
#include "test_database.h"

namespace hookgate {

inline Digest digest_of(char c) {
  Digest digest;
  digest.fill(static_cast<std::byte>(c));
  return digest;
}

// A delivery of event `id` whose content is told apart by one character.
inline Delivery a_delivery(const std::string& id, char content = 'a',
                           const std::string& body = "{}") {
  auto request = std::make_shared<Delivery::Request>();
  request->source = "stripe";
  request->head = "POST /webhooks/stripe HTTP/1.1\r\n";
  request->body = body;
  request->received_at = *parse_instant("2026-01-01T00:00:00Z");
  Delivery delivery;
  delivery.request = request;
  delivery.event.event_id = id;
  delivery.event.event_type = "charge.succeeded";
  delivery.event.subject = "pi_1";
  delivery.event.content = digest_of(content);
  delivery.event.signed_content = digest_of(content);
  return delivery;
}

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HOOKGATE_REQUIRE_DATABASE();
    database_ = std::make_unique<TestDatabase>();
    connection_ = std::make_unique<Connection>(database_->url(), SessionSettings{});
  }

  TestDatabase& database() { return *database_; }
  Connection& connection() { return *connection_; }
  std::vector<StoreResult> record(const std::vector<Delivery>& deliveries) {
    return store_.record(connection(), deliveries);
  }
  StoreResult record_one(const Delivery& delivery) { return record({delivery}).at(0); }

 private:
  std::unique_ptr<TestDatabase> database_;
  std::unique_ptr<Connection> connection_;
  EventStore store_;
};

}  // namespace hookgate
