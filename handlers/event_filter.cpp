#include "handlers/event_filter.h"

#include <algorithm>

#include "domain/glob.h"

namespace hookgate {

bool EventFilter::wants(std::string_view event_type) const {
  return std::ranges::any_of(
      globs_, [event_type](const std::string& glob) { return matches_glob(glob, event_type); });
}

Outcome EventFilter::handle(const Event& event, HandlerContext& context) {
  if (!wants(event.event_type)) return Ignored{};
  return inner_->handle(event, context);
}

std::vector<std::string> EventFilter::lock_keys(const Event& event) const {
  if (!wants(event.event_type)) return {};
  return inner_->lock_keys(event);
}

}  // namespace hookgate
