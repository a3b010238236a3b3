#include "store/pooled_event_queue.h"

namespace hookgate {

std::vector<ClaimedEvent> PooledEventQueue::claim(const ClaimOptions& options) {
  auto lease = claims_.acquire();
  return claim_events(*lease, options);
}

std::vector<ClaimedEvent> PooledEventQueue::claim_expired(const ClaimOptions& options) {
  auto lease = claims_.acquire();
  return hookgate::claim_expired(*lease, options);
}

std::vector<std::int64_t> PooledEventQueue::renew(std::int64_t token,
                                                  std::span<const std::int64_t> ids,
                                                  std::chrono::milliseconds lease) {
  auto connection = claims_.acquire();
  return renew_leases(*connection, token, ids, lease);
}

void PooledEventQueue::load_versions(ClaimedEvent& claimed) {
  auto lease = claims_.acquire();
  hookgate::load_versions(*lease, claimed);
}

void PooledEventQueue::transact(const std::function<void(EventTransaction&)>& work) {
  auto lease = runs_.acquire();
  in_event_transaction(*lease, work);
}

}  // namespace hookgate
