#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "domain/secret.h"
#include "telemetry/metrics.h"

namespace hookgate {

struct AdminSettings {
  std::string host;
  int port = 0;                 // 0 picks one
  std::optional<Secret> token;  // asked for as a bearer token; none only on loopback
  Metrics* metrics = nullptr;   // shown at /metrics, outlives the server; null: no such page
  // Reads the backlog for a scrape, at most once a second; throws when the database is away.
  std::function<Metrics::Backlog()> read_backlog{};
};

// The listener for operators: /healthz, /readyz and /metrics, by GET and HEAD. Everything but the
// two probes asks for the token first, so that who has none learns nothing of what is there.
class AdminServer {
 public:
  AdminServer(AdminSettings settings, std::function<bool()> is_ready);
  ~AdminServer();

  void start();          // throws std::runtime_error when the address cannot be bound
  void stop() noexcept;  // idempotent
  std::string address() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hookgate
