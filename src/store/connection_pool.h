#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "store/connection.h"

namespace hookgate {

struct PoolSettings {
  Secret url;
  SessionSettings session{};
  std::size_t connections_max = 8;
  std::chrono::seconds connection_age_max{
      3600};  // then replaced, so that a failover spreads by itself
};

// Sessions that threads borrow. A lease goes back only if nothing threw while it was held.
class ConnectionPool {
 public:
  explicit ConnectionPool(PoolSettings settings);

  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection);
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }

   private:
    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;
    int exceptions_at_start_;
  };

  // A free session, or a new one; waits at most `wait` for one to come back when all are lent.
  // Throws StoreUnavailable.
  Lease acquire(std::chrono::milliseconds wait = std::chrono::milliseconds{2'000});

 private:
  friend class Lease;
  void give_back(std::unique_ptr<Connection> connection, bool usable) noexcept;

  const PoolSettings settings_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
  std::size_t lent_ = 0;                           // guarded by mutex_
};

}  // namespace hookgate
