#include "handlers/event_payload.h"

#include <cstddef>
#include <utility>

namespace hookgate {

std::variant<EventPayload, std::string> event_payload(const Event& event) {
  auto parsed = parse_json(event.body);
  if (const auto* error = std::get_if<JsonError>(&parsed))
    return "the body is not JSON: " + error->message;
  EventPayload payload{std::get<JsonDocument>(std::move(parsed)), {}};
  payload.value = payload.document.root;
  if (event.provider != "adyen") return payload;
  const auto items = payload.document.root["notificationItems"];
  if (!items.is_array()) return payload;  // platform webhooks are one event a body
  const auto elements = items.elements();
  if (event.item < 0 || static_cast<std::size_t>(event.item) >= elements.size())
    return std::string{"the body has no such item"};
  payload.value = elements[static_cast<std::size_t>(event.item)]["NotificationRequestItem"];
  return payload;
}

}  // namespace hookgate
