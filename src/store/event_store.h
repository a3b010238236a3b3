#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "domain/event.h"
#include "store/connection.h"
#include "store/event_ids.h"
#include "store/recent_keys.h"

namespace hookgate {

// One delivery of one event, ready to be stored. `request` is shared by the items of one request.
struct Delivery {
  struct Request {
    std::string source;
    std::string head;  // request line and headers, without credentials
    std::string body;
    SystemTime received_at{};
    std::size_t secret_index = 0;
  };
  std::shared_ptr<const Request> request;
  NewEvent event;
  std::string ignore_reason{};  // not empty: stored as `ignored`, no handler runs
};

enum class StoreResult {
  kAccepted,   // the first delivery: a new row
  kDuplicate,  // we had it (a revision of unsigned details counts as one)
  kConflict,   // we had it with other signed content: kept beside the first
  kFailed,     // this delivery alone could not be stored; its neighbours were
};

// The row a duplicate is of.
struct KnownEvent {
  std::int64_t id = 0;
  bool same_content = false;
  bool same_signed_content = false;
  bool is_counted = false;  // the delivery is among the row's `deliveries` by now
};

// A delivery that made no new row.
struct Duplicate {
  std::size_t position = 0;  // in the batch
  const Delivery* delivery = nullptr;
  std::optional<KnownEvent> known{};  // none: nobody has looked yet
};

// Rows of hookgate.events and what hangs on them. One object per writer thread: it holds a block of
// ids.
class EventStore {
 public:
  // Bodies kept per event besides the first; later ones are only counted.
  static constexpr int kVersionsMax = 20;

  // `recent`, shared by the writers of a process, only makes duplicates cheaper.
  explicit EventStore(std::shared_ptr<RecentKeys> recent = std::make_shared<RecentKeys>())
      : recent_(std::move(recent)) {}

  // Stores all deliveries; they are committed when this returns, in their order. The unique index
  // decides which delivery was first, in every process. Throws StoreUnavailable when the outcome is
  // unknown or nothing could be written; repeating the call is then safe, because of that index.
  std::vector<StoreResult> record(Connection& connection, std::span<const Delivery> deliveries);

 private:
  using Deliveries = std::span<const Delivery* const>;
  struct Outcome {
    std::vector<StoreResult> results;
    std::vector<Duplicate> duplicates;  // to be judged
  };

  std::vector<bool> offer(Connection& connection, Deliveries fresh, std::span<Duplicate> suspected);
  void offer_splitting(Connection& connection, Deliveries fresh,
                       std::span<const std::size_t> positions, std::size_t suspected,
                       Outcome& outcome);
  bool is_suspected(const Delivery& delivery) const;
  void remember(const Delivery& delivery);

  EventIds ids_;
  std::shared_ptr<RecentKeys> recent_;
};

// Tells the other processes that events wait. Loss does no harm: they poll too.
void notify_events(Connection& connection);

}  // namespace hookgate
