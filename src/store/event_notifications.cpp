#include "store/event_notifications.h"

#include <pqxx/pqxx>

#include "store/error_translation.h"

namespace hookgate {

class EventNotifications::Receiver final : public pqxx::notification_receiver {
 public:
  explicit Receiver(pqxx::connection_base& connection)
      : pqxx::notification_receiver(connection, "hookgate_events") {}
  void operator()(const std::string&, int) override { notified = true; }
  bool notified = false;
};

EventNotifications::EventNotifications(Connection& connection) : connection_(connection) {
  translate_errors([&] { receiver_ = std::make_unique<Receiver>(connection.raw()); });
}

EventNotifications::~EventNotifications() = default;

bool EventNotifications::wait(std::chrono::milliseconds limit) {
  receiver_->notified = false;
  translate_errors([&] {
    connection_.raw().await_notification(limit.count() / 1000, (limit.count() % 1000) * 1000);
  });
  return receiver_->notified;
}

}  // namespace hookgate
