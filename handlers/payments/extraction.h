#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/json.h"
#include "handlers/payments/fact.h"

namespace hookgate {

// What an event's body says to the ledger.
struct NotForTheLedger {};
struct Unreadable {
  // An event of the ledger's whose needed fields are missing or of the wrong type.
  std::string reason;
};
struct Extracted {
  std::string account;  // the merchant account inside the provider; "" where there is none
  std::vector<FactUpdate> updates;  // `payment` is what the event names, or ""
};
using Extraction = std::variant<NotForTheLedger, Unreadable, Extracted>;

// Pure. `event` is the parsed Stripe event.
Extraction extract_stripe(const Json& event);

// Pure. `item` is one NotificationRequestItem.
Extraction extract_adyen(const Json& item);

// The event of a request's body: the Stripe event itself, or the Adyen item at that position. All
// texts in it can enter the database; ids are whole, or it is unreadable.
Extraction extract(std::string_view provider, std::string_view body, int item);

}  // namespace hookgate
