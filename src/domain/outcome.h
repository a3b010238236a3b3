#pragma once

#include <string>
#include <variant>

namespace hookgate {

// What a handler says of one event. Only `worker/` turns it into a state.
struct Done {};     // the effect is written
struct Ignored {};  // not an event of this handler
struct RetryLater {
  std::string reason;
};  // try again after a while; its writes are undone
struct GiveUp {
  std::string reason;
};  // will never work: dead, for an operator; its writes are undone

using Outcome = std::variant<Done, Ignored, RetryLater, GiveUp>;

}  // namespace hookgate
