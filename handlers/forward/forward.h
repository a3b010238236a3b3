#pragma once

#include <cstdint>
#include <string>

#include "domain/handler.h"

namespace hookgate {

// Writes one message to the outbox, whose senders deliver it after the commit.
//
// Safe to run twice: the row's unique key is the handler's name, our id of the event and the
// instant we received it, so that a second run finds it taken. The instant keeps two databases
// apart, whose ids are both small numbers; nothing in the key is the sender's. The body is the
// request's, byte for byte, also where several events came in one request: `item` says which of
// them it is.
class ForwardHandler final : public Handler {
 public:
  // `ordered`: the rows of one subject get their numbers in the order of their commits.
  ForwardHandler(std::string name, bool ordered);

  std::string_view name() const override { return name_; }
  Outcome handle(const Event& event, HandlerContext& context) override;
  std::vector<std::string> lock_keys(const Event& event) const override;

  // How many messages the calling thread has written, committed or not: whoever ran handlers sees
  // by it whether senders should be woken.
  static std::uint64_t written_by_this_thread();

 private:
  const std::string name_;
  const bool ordered_;
};

// "crm-1001-1767225600123456": no dot, as the signature scheme wants, and at most 255 bytes.
std::string forward_key(std::string_view handler, const Event& event);

}  // namespace hookgate
