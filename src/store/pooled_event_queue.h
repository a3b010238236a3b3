#pragma once

#include "store/connection_pool.h"
#include "store/event_queue.h"

namespace hookgate {

// The queue in PostgreSQL. Thread-safe; each call borrows a session of its own.
class PooledEventQueue final : public EventQueue {
 public:
  // `claims` may lend sessions without synchronous_commit; `runs` must not. Both outlive it.
  PooledEventQueue(ConnectionPool& claims, ConnectionPool& runs) : claims_(claims), runs_(runs) {}

  std::vector<ClaimedEvent> claim(const ClaimOptions& options) override;
  std::vector<ClaimedEvent> claim_expired(const ClaimOptions& options) override;
  std::vector<std::int64_t> renew(std::int64_t token, std::span<const std::int64_t> ids,
                                  std::chrono::milliseconds lease) override;
  void load_versions(ClaimedEvent& claimed) override;
  void transact(const std::function<void(EventTransaction&)>& work) override;

 private:
  ConnectionPool& claims_;
  ConnectionPool& runs_;
};

}  // namespace hookgate
