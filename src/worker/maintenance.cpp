#include "worker/maintenance.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "store/event_notifications.h"
#include "store/event_queue.h"
#include "store/outbox_store.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

constexpr std::chrono::milliseconds kListenTick{100};

void wait(const std::stop_token& stop, std::chrono::milliseconds limit) {
  std::mutex mutex;
  std::condition_variable_any wakeup;
  std::unique_lock lock{mutex};
  wakeup.wait_for(lock, stop, limit, [] { return false; });
}

}  // namespace

Maintenance::Maintenance(ConnectionPool& pool, Clock clock, MaintenanceSettings settings)
    : pool_(pool), clock_(std::move(clock)), settings_(std::move(settings)) {}

void Maintenance::start() {
  thread_ = std::jthread{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      try {
        const auto result = run_once();
        if (result.days_dropped + result.bodies_deleted + result.events_deleted +
                result.messages_deleted >
            0) {
          log(LogLevel::kInfo, "retention applied",
              {{"days_dropped", result.days_dropped},
               {"bodies_deleted", result.bodies_deleted},
               {"events_deleted", result.events_deleted},
               {"messages_deleted", result.messages_deleted}});
        }
      } catch (const std::exception& error) {
        log(LogLevel::kWarn, "maintenance failed", {{"reason", std::string_view{error.what()}}});
      }
      wait(stop, settings_.interval);
    }
  }};
}

void Maintenance::stop() noexcept {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

PruneResult Maintenance::run_once() {
  const auto now = clock_();
  auto lease = pool_.acquire();
  ensure_body_partitions(*lease, now);
  release_claims_of_the_gone(*lease);
  release_messages_of_the_gone(*lease);
  return prune(*lease, now, settings_.bodies, settings_.keys);
}

namespace {

// Listens until the session is of no more use, or `stop`.
void listen_on(Connection& connection, const std::stop_token& stop, ConnectionPool& pool,
               const ListenSettings& settings, const std::function<void()>& on_events) {
  using std::chrono::steady_clock;
  EventNotifications notifications{connection, settings.instance};
  show_presence(connection, settings.instance);
  on_events();  // what came while nobody listened
  auto asked_at = steady_clock::now();
  std::uint64_t asked = 0;
  while (!stop.stop_requested()) {
    if (notifications.wait(kListenTick)) on_events();
    const auto waited = steady_clock::now() - asked_at;
    if (notifications.heartbeats() < asked) {
      if (waited < settings.heartbeat_limit) continue;
      notifications.cut();
      throw StoreUnavailable("the session that listens for events is silent");
    }
    if (waited < settings.heartbeat_interval) continue;
    notifications.send_heartbeat(*pool.acquire());
    asked_at = steady_clock::now();
    ++asked;
  }
  if (notifications.heartbeats() < asked) notifications.cut();
}

}  // namespace

void listen_for_events(const std::stop_token& stop, const Secret& url, ConnectionPool& pool,
                       const ListenSettings& settings, const std::function<void()>& on_events) {
  bool was_listening = false;
  while (!stop.stop_requested()) {
    try {
      Connection connection{url, {}};
      listen_on(connection, stop, pool, settings, [&] {
        was_listening = true;
        on_events();
      });
    } catch (const std::exception& error) {
      if (std::exchange(was_listening, false)) {
        log(LogLevel::kWarn, "no longer told of events that other processes store; trying again",
            {{"reason", std::string_view{error.what()}}});
      }
      wait(stop, settings.pause_when_away);
    }
  }
}

}  // namespace hookgate
