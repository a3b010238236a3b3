#pragma once

#include <string_view>
#include <vector>

#include "domain/event.h"
#include "domain/text.h"
#include "fuzz_target.h"

namespace hookgate {

inline constexpr std::size_t kColumnBytesMax = 255;

inline bool fits_a_column(std::string_view text) {
  return text.size() <= kColumnBytesMax && is_valid_utf8(text) &&
         text.find('\0') == std::string_view::npos;
}

// What the store relies on, whatever an authentic body holds.
inline void check_events(const std::vector<NewEvent>& events) {
  require(!events.empty(), "a request holds an event");
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& event = events[i];
    require(!event.event_id.empty(), "an event has an id");
    require(fits_a_column(event.event_id), "an id fits its column");
    require(fits_a_column(event.event_type), "a type fits its column");
    require(fits_a_column(event.scope), "a scope fits its column");
    require(fits_a_column(event.subject), "a subject fits its column");
    require(event.item == static_cast<int>(i), "events come in the order of the items");
  }
}

inline bool have_same_keys(const std::vector<NewEvent>& a, const std::vector<NewEvent>& b) {
  return std::ranges::equal(a, b, [](const NewEvent& x, const NewEvent& y) {
    return x.scope == y.scope && x.event_id == y.event_id && x.event_type == y.event_type &&
           x.subject == y.subject && x.signed_content == y.signed_content;
  });
}

}  // namespace hookgate
