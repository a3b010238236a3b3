#pragma once

#include <chrono>

#include "store/connection.h"

namespace hookgate {

// LISTENs for events stored by other processes. One thread.
class EventNotifications {
 public:
  // Starts to listen on the session, which must be used for nothing else.
  explicit EventNotifications(Connection& connection);
  ~EventNotifications();
  // True when something was stored since the last call, within `limit`. Throws StoreUnavailable.
  bool wait(std::chrono::milliseconds limit);

 private:
  class Receiver;
  Connection& connection_;
  std::unique_ptr<Receiver> receiver_;
};

}  // namespace hookgate
