#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/types.h>

#include "app.h"
#include "domain/http_message.h"
#include "domain/provider.h"
#include "test_database.h"

namespace hookgate {

// Invented; the tests' own.
inline constexpr auto kStripeSecret = "whsec_invented_for_tests_only_0001";
inline constexpr auto kAdyenKey =
    "A1B2C3D4E5F60718293A4B5C6D7E8F90112233445566778899AABBCCDDEEFF00";
inline constexpr auto kStandardSecret = "whsec_aW52ZW50ZWQtZm9yLXRlc3RzLW9ubHktMDAwMQ==";

struct HttpResult {
  int status = 0;  // 0: no answer
  std::string body;
  std::vector<Header> headers;
  std::string header(const std::string& name) const;
};

// One POST (or GET without a body) over a connection of its own, or over `client`'s.
HttpResult send(const std::string& address, const InboundRequest& request, int timeout_s = 15);

// A connection that is kept.
class HttpSession {
 public:
  explicit HttpSession(const std::string& address);
  ~HttpSession();
  HttpResult send(const InboundRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The configuration most tests use: sources stripe, adyen, standard with the secrets above, ledger
// on. `url` as for [database]; `workers` threads.
std::string test_config(const Secret& url, int workers = 4, const std::string& more = "");

// A source block; with the ledger unless `more` names handlers.
std::string source_block(const std::string& name, const std::string& provider,
                         const std::vector<std::string>& secrets, const std::string& more = "");

// Counts, outside the ledger, how often the effect of an event happened: one row in public.effects
// a run.
class CountingHandler final : public Handler {
 public:
  std::string_view name() const override { return "counting"; }
  Outcome handle(const Event& event, HandlerContext& context) override;
  static void create_table(TestDatabase& database);
};

// Whole gateways on one database, inside this process, over real sockets.
class GatewayTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Starts one more gateway; returns its public address.
  std::string start_gateway(const std::string& config_text);
  std::string start_gateway() { return start_gateway(test_config(database().url())); }
  void stop_gateways();
  App& app(std::size_t index = 0) { return *apps_.at(index); }

  TestDatabase& database() { return *database_; }
  // Waits until no event is waiting or running; fails the test after `limit_s`.
  void drain(int limit_s = 60);
  std::int64_t effects(const std::string& where = "true") {
    return database().count("effects WHERE " + where);
  }
  void set_clock(long long unix_seconds) { clock_seconds_ = unix_seconds; }

 private:
  std::unique_ptr<TestDatabase> database_;
  std::vector<std::unique_ptr<App>> apps_;
  std::atomic<long long> clock_seconds_ = 0;  // 0: the real time
};

// A signed POST of `body` to /webhooks/{source}.
InboundRequest signed_request(const Provider& provider, const std::string& source,
                              const std::string& body, SystemTime now);
std::unique_ptr<Provider> test_provider(const std::string& name, const std::string& secret);

std::string stripe_event(const std::string& id, const std::string& type,
                         const std::string& object_json, long long created = 1767225600);

// The built program as a process of its own.
class GatewayProcess {
 public:
  GatewayProcess(const std::vector<std::string>& arguments);
  ~GatewayProcess();  // kills it if it still runs
  // The address after "listening on "; fails the test when none comes.
  std::string public_address();
  void kill_now();  // SIGKILL
  int terminate();  // SIGTERM; its exit code
  void hang_up();   // SIGHUP
  bool is_running();
  // Waits for its end; its exit code, or -1 after `limit_s`.
  int wait(int limit_s);
  std::string output() const;  // what it wrote so far, stdout and stderr
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  std::string output_file_;
  int exit_code_ = -1;
};

std::string hookgate_program();

}  // namespace hookgate
