#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "domain/time.h"
#include "store/connection_pool.h"
#include "store/retention.h"

namespace hookgate {

struct MaintenanceSettings {
  std::chrono::hours bodies{24 * 30};
  std::vector<KeyRetention> keys;
  std::chrono::milliseconds interval{10'000};
};

// The background duties of one process: tomorrow's partitions, retention. Any number of gateways
// may run it at once.
class Maintenance {
 public:
  Maintenance(ConnectionPool& pool, Clock clock, MaintenanceSettings settings);
  ~Maintenance() { stop(); }

  void start();
  void stop() noexcept;  // idempotent
  // Throws StoreUnavailable, SqlError.
  PruneResult run_once();

 private:
  ConnectionPool& pool_;
  const Clock clock_;
  const MaintenanceSettings settings_;
  std::jthread thread_;
};

struct ListenSettings {
  std::int32_t instance = 0;
  // A sign of life over the session that listens, and how long it may take. Together they bound how
  // long a session that lost its peer without a word goes unnoticed; events wait for the poll then.
  std::chrono::milliseconds heartbeat_interval{10'000};
  std::chrono::milliseconds heartbeat_limit{10'000};
  std::chrono::milliseconds pause_when_away{100};
};

// Calls `on_events` when another process stored events, and once whenever it has begun to listen:
// LISTEN on a session of its own, renewed when lost or silent, which also shows that `instance`
// lives. `pool` lends a session for the signs of life. Throws nothing; ends with the stop token,
// within a tenth of a second while the database answers.
void listen_for_events(const std::stop_token& stop, const Secret& url, ConnectionPool& pool,
                       const ListenSettings& settings, const std::function<void()>& on_events);

}  // namespace hookgate
