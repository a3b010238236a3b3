#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/time.h"

namespace hookgate {

// A SHA-256.
using Digest = std::array<std::byte, 32>;

// One thing a sender reports, as a provider reads it from a verified request.
// `scope` and `event_id` are, with the source, the key that deduplicates.
struct NewEvent {
  std::string scope;       // account inside the source; "" where there is none
  std::string event_id;    // the sender's, 1 to 255 bytes of valid UTF-8 without NUL
  std::string event_type;  // "payment_intent.succeeded", "AUTHORISATION"; "" if the body has none
  std::string
      subject;  // the business object it is about (Stripe pi_..., Adyen the payment's reference)
  std::optional<SystemTime> occurred_at;  // by the sender's clock
  std::optional<bool> live;               // real money or test, where the sender says so
  std::string account;  // merchant account, for sources that list the ones they take
  // Content without what may differ between two deliveries of one event (Stripe pending_webhooks).
  Digest content{};
  // What the signature covers of it. Other signed content under one id is a conflict; other
  // content whose signed part is the same is a revision (Adyen's unsigned details).
  Digest signed_content{};
  int item = 0;  // its position in the request's body
  std::string
      unusable{};  // not empty: authentic but of no use to a handler, and why; stored as dead
};

// Another body that came under the id of an event we had.
struct EventVersion {
  enum class Kind { kRevision, kConflict };
  Kind kind = Kind::kRevision;
  std::string body;  // the whole request body, as received
  int item = 0;
};

// A stored event, as a handler sees it.
struct Event {
  std::int64_t id = 0;
  std::string source;
  std::string provider;
  std::string scope;
  std::string event_id;
  std::string event_type;
  std::string subject;
  std::optional<SystemTime> occurred_at;
  SystemTime received_at{};
  int attempt = 1;                       // 1 for the first run
  std::string body;                      // the whole request body, as received
  int item = 0;                          // this event's position in it
  std::vector<EventVersion> versions{};  // filled for handlers that ask for them
};

}  // namespace hookgate
