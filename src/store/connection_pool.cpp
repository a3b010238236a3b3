#include "store/connection_pool.h"

#include <exception>

namespace hookgate {

ConnectionPool::ConnectionPool(PoolSettings settings) : settings_(std::move(settings)) {}

ConnectionPool::Lease::Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection)
    : pool_(&pool),
      connection_(std::move(connection)),
      exceptions_at_start_(std::uncaught_exceptions()) {}

ConnectionPool::Lease::~Lease() {
  if (!connection_) return;
  pool_->give_back(std::move(connection_), std::uncaught_exceptions() == exceptions_at_start_);
}

ConnectionPool::Lease ConnectionPool::acquire(std::chrono::milliseconds wait) {
  std::unique_lock lock{mutex_};
  const bool available = returned_.wait_for(
      lock, wait, [this] { return !idle_.empty() || lent_ < settings_.connections_max; });
  if (!available) throw StoreUnavailable("no database connection became free in time");
  ++lent_;
  if (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return {*this, std::move(connection)};
  }
  lock.unlock();
  try {
    return {*this, std::make_unique<Connection>(settings_.url, settings_.session)};
  } catch (...) {
    give_back(nullptr, false);
    throw;
  }
}

void ConnectionPool::give_back(std::unique_ptr<Connection> connection, bool usable) noexcept {
  {
    const std::scoped_lock lock{mutex_};
    --lent_;
    if (usable && connection &&
        std::chrono::steady_clock::now() - connection->opened_at() < settings_.connection_age_max) {
      idle_.push_back(std::move(connection));
    } else {
      // Sessions opened before the fault are likely gone as well; each would fail once.
      if (!usable) idle_.clear();
    }
  }
  returned_.notify_one();
}

}  // namespace hookgate
