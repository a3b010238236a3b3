#pragma once

#include <string>
#include <variant>

#include "domain/event.h"
#include "domain/json.h"

namespace hookgate {

// What JSON Pointers of a handler's configuration look into: the request's body or, where a body
// holds several events (Adyen), the event's own part of it.
struct EventPayload {
  JsonDocument document;  // owns what `value` points into
  Json value;
};

// The text is why there is none: "the body is not JSON: ...".
std::variant<EventPayload, std::string> event_payload(const Event& event);

}  // namespace hookgate
