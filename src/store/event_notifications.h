#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "store/connection.h"

namespace hookgate {

// LISTENs for events stored by other processes. One thread.
class EventNotifications {
 public:
  // Starts to listen on the session, which must be used for nothing else. `instance` names the
  // process among all on the database.
  EventNotifications(Connection& connection, std::int32_t instance);
  ~EventNotifications();
  // Asks for a sign of life, over another session: a session that lost its peer without a word
  // looks like one on which nothing happens. Throws StoreUnavailable.
  void send_heartbeat(Connection& other) const;
  // How many signs of life have come.
  std::uint64_t heartbeats() const;
  // Cuts the session, so that nothing waits for its other end again: its end of life included.
  void cut() noexcept;
  // True when something was stored since the last call, within `limit`. Throws StoreUnavailable.
  bool wait(std::chrono::milliseconds limit);

 private:
  class Receiver;
  Connection& connection_;
  const std::string heartbeat_channel_;
  std::unique_ptr<Receiver> events_;
  std::unique_ptr<Receiver> heartbeats_;
};

}  // namespace hookgate
