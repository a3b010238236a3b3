#include "outbox/outbox.h"

#include <algorithm>

namespace hookgate {
namespace {

constexpr std::size_t kSessionsMax = 8;

}  // namespace

std::size_t outbox_sessions(int threads) {
  return std::clamp(static_cast<std::size_t>(std::max(threads, 1)), std::size_t{1}, kSessionsMax);
}

Outbox::Outbox(PoolSettings claims, PoolSettings records,
               std::vector<OutboxDestination> destinations)
    : claims_(std::move(claims)), records_(std::move(records)) {
  for (auto& destination : destinations) {
    relays_.push_back(std::make_unique<Relay>(claims_, records_, std::move(destination.sender),
                                              std::move(destination.relay)));
  }
}

void Outbox::start() {
  for (const auto& relay : relays_) relay->start();
}

void Outbox::wake() {
  for (const auto& relay : relays_) relay->wake();
}

void Outbox::request_stop() noexcept {
  for (const auto& relay : relays_) relay->request_stop();
}

void Outbox::stop(std::chrono::steady_clock::time_point deadline) noexcept {
  request_stop();
  for (const auto& relay : relays_) relay->stop(deadline);
}

}  // namespace hookgate
