#pragma once

#include <string_view>
#include <vector>

#include "domain/event.h"

namespace hookgate {

// The events of a body that the header scheme found authentic: a platform webhook
// `{"type":..., "environment":..., "createdAt" or "timestamp":..., "data":{...}}`, or a payments
// batch, whose items then need no signature of their own.
std::vector<NewEvent> adyen_header_events(std::string_view body);

}  // namespace hookgate
