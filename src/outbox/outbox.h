#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "outbox/relay.h"

namespace hookgate {

struct OutboxDestination {
  RelaySettings relay;
  std::unique_ptr<MessageSender> sender;
};

// The senders of one process: a relay for each destination, and the sessions they share. Without
// destinations it does nothing.
class Outbox {
 public:
  // `claims`: for sessions that may be without synchronous_commit.
  Outbox(PoolSettings claims, PoolSettings records, std::vector<OutboxDestination> destinations);

  void start();
  void wake();
  void request_stop() noexcept;
  void stop(std::chrono::steady_clock::time_point deadline) noexcept;

 private:
  ConnectionPool claims_;
  ConnectionPool records_;
  std::vector<std::unique_ptr<Relay>> relays_;
};

// Sessions for so many threads: they are held for a statement and never while something is sent, so
// that a few do for many.
std::size_t outbox_sessions(int threads);

}  // namespace hookgate
