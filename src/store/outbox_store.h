#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/time.h"
#include "store/connection.h"

namespace hookgate {

// What is sent to a destination.
struct OutgoingMessage {
  std::string idempotency_key;  // the same on every try
  std::string content_type;
  std::string event_type;
  std::int64_t event = 0;  // events.id
  int item = 0;            // the event's position in the body
  std::string body;
};

// A message that this process may send until its lease ends.
struct ClaimedMessage {
  OutgoingMessage message;
  std::int64_t id = 0;
  std::int64_t token = 0;  // fencing token: `record_try` works only while the row still carries it
  int attempts = 0;        // this one included
};

struct MessageClaim {
  std::string destination;
  std::chrono::milliseconds lease{20'000};
  bool ordered = false;       // pass over what waits for an earlier message of its subject
  std::int32_t instance = 0;  // who claims; see show_presence
};

// Takes the pending, due message that fell due first, or one whose lease ended. Counts the try. Its
// commit may be lost in a crash of the server, which only makes it claimable again.
// Throws StoreUnavailable, SqlError.
std::optional<ClaimedMessage> claim_message(Connection& connection, const MessageClaim& claim);

// How a try ended; the next state of the row.
struct TryOutcome {
  enum class Status { kSent, kRetry, kDead };
  std::int64_t id = 0;
  std::int64_t token = 0;
  Status status = Status::kSent;
  std::chrono::milliseconds retry_after{0};
  std::string last_error;  // "" clears it
};

// False, and nothing is changed, when the claim was lost to another sender or to an operator.
// Throws StoreUnavailable, SqlError.
bool record_try(Connection& connection, const TryOutcome& outcome);

// Ends the leases of processes that are gone (see show_presence); returns how many.
std::size_t release_messages_of_the_gone(Connection& connection);

// Deletes messages sent or discarded before `before`, at most `rows_max` of either kind; dead ones
// stay for an operator.
std::size_t prune_outbox(Connection& connection, SystemTime before, std::size_t rows_max = 5'000);

}  // namespace hookgate
