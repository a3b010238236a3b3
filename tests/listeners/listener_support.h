#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "domain/provider.h"
#include "ingest/commit_queue.h"
#include "ingest/listener.h"
#include "ingest/receiver.h"
#include "store/connection_pool.h"
#include "test_database.h"

namespace hookgate {

inline constexpr auto kReactor = "reactor";
inline constexpr auto kHttplib = "httplib";

// A request's text, made to be bent: a correctly signed POST to /webhooks/stripe until somebody
// changes it.
class RequestText {
 public:
  // `body_bytes`: pads the event to that size; 0: as it is.
  explicit RequestText(const std::string& event_id, std::size_t body_bytes = 0);
  // The same with these bytes as its body.
  struct SignedBytes {};
  RequestText(std::string bytes, SignedBytes);

  std::string method = "POST";
  std::string target = "/webhooks/stripe";
  std::string version = "HTTP/1.1";
  std::vector<std::string> lines;  // headers, without their line ends
  std::string body;

  RequestText& add(const std::string& line);
  RequestText& remove(std::string_view name);  // every header line of that name
  // In the place of the one header of that name.
  RequestText& replace(std::string_view name, const std::string& line);
  // With Transfer-Encoding in the place of the length, and the body as these bytes.
  RequestText& chunked(const std::string& wire_body);

  std::string head() const;
  std::string bytes() const { return head() + body; }
};

// The body as chunks of that size and a last chunk.
std::string in_chunks(std::string_view body, std::size_t chunk_bytes);
std::string chunk(std::string_view data);

// One listener on a receiver and a database of its own, in this process.
class ListenerFixture : public ::testing::Test {
 protected:
  static constexpr std::size_t kBodyBytesMax = 8UL * 1024;

  void SetUp() override;
  void TearDown() override { stop(); }

  virtual std::string kind() const = 0;  // kReactor or kHttplib
  bool is_reactor() const { return kind() == kReactor; }

  // For `start`.
  ReceiverSettings receiver_settings_;
  std::vector<IpNetwork> allowed_clients_;  // of the source; empty: all
  // Before anything else; `settings` needs no address.
  void start(ListenerSettings settings = {});
  // When it returns, all that was accepted is answered and committed. Idempotent.
  void stop();

  const std::string& address() const { return address_; }
  TestDatabase& database() { return *database_; }
  bool is_stored(const std::string& event_id);
  // Whether the connection still answers a request.
  static bool answers_probe(class RawSocket& socket);

 private:
  std::unique_ptr<TestDatabase> database_;
  std::unique_ptr<ConnectionPool> pool_;
  std::unique_ptr<CommitQueue> queue_;
  std::unique_ptr<Responder> responder_;
  std::unique_ptr<Receiver> receiver_;
  std::unique_ptr<Listener> listener_;
  std::string address_;
};

// Runs once for each kind.
class ListenerTest : public ListenerFixture, public ::testing::WithParamInterface<std::string> {
 protected:
  std::string kind() const override { return GetParam(); }
};

std::unique_ptr<Listener> make_listener(const std::string& kind, ListenerSettings settings,
                                        Receiver& receiver);

// The parameter as part of a test's name.
std::string listener_name(const ::testing::TestParamInfo<std::string>& info);

}  // namespace hookgate
