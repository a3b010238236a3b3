#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "store/outbox_store.h"

namespace hookgate {

struct SendResult {
  enum class Kind {
    kDelivered,  // the receiver took it
    kFailed,     // or may have taken it: the same again later
    kAborted,    // `abort` came first
  };
  Kind kind = Kind::kFailed;
  std::string reason{};  // for an operator; no secret, not cleaned
  std::optional<std::chrono::milliseconds> retry_after{};  // the receiver wants peace for so long
};

// A way to a destination. A try of it ends within `time_limit`, whatever the receiver does, and
// soon after `abort` is requested. Any thread, several at once.
class MessageSender {
 public:
  virtual ~MessageSender() = default;
  virtual SendResult send(const OutgoingMessage& message, const std::stop_token& abort) = 0;
  virtual std::chrono::milliseconds time_limit() const = 0;
};

}  // namespace hookgate
