#include "store/event_notifications.h"

#include <pqxx/pqxx>
#include <sys/socket.h>

#include "store/error_translation.h"

namespace hookgate {

class EventNotifications::Receiver final : public pqxx::notification_receiver {
 public:
  Receiver(pqxx::connection_base& connection, const std::string& channel)
      : pqxx::notification_receiver(connection, channel) {}
  void operator()(const std::string&, int) override { ++count; }
  std::uint64_t count = 0;
};

EventNotifications::EventNotifications(Connection& connection, std::int32_t instance)
    : connection_(connection),
      heartbeat_channel_("hookgate_heartbeat_" + std::to_string(instance)) {
  translate_errors([&] {
    events_ = std::make_unique<Receiver>(connection.raw(), "hookgate_events");
    heartbeats_ = std::make_unique<Receiver>(connection.raw(), heartbeat_channel_);
  });
}

EventNotifications::~EventNotifications() = default;

void EventNotifications::send_heartbeat(Connection& other) const {
  translate_errors([&] {
    pqxx::nontransaction{other.raw()}.exec_params("SELECT pg_notify($1, '')", heartbeat_channel_);
  });
}

std::uint64_t EventNotifications::heartbeats() const {
  return heartbeats_->count;
}

void EventNotifications::cut() noexcept {
  ::shutdown(connection_.raw().sock(), SHUT_RDWR);
}

bool EventNotifications::wait(std::chrono::milliseconds limit) {
  const auto before = events_->count;
  translate_errors([&] {
    connection_.raw().await_notification(limit.count() / 1000, (limit.count() % 1000) * 1000);
  });
  return events_->count != before;
}

}  // namespace hookgate
