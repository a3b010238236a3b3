#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/event.h"
#include "domain/json.h"

namespace hookgate {

// One NotificationRequestItem whose signed fields have the types of Adyen's schema; absent and null
// references are "". Views into the batch it came from or a
// copy of that.
struct AdyenItem {
  std::string_view psp_reference;
  std::string_view original_reference;
  std::string_view merchant_account_code;
  std::string_view merchant_reference;
  std::string_view amount_value;  // the literal of the JSON integer
  std::string_view amount_currency;
  std::string_view event_code;
  std::string_view success;  // "true" or "false"
  // additionalData.hmacSignature; nothing if absent, empty or no text.
  std::optional<std::string_view> signature;
  Json json;  // the whole item
};

// A read body.
struct AdyenBatch {
  JsonDocument document;         // what the items point into
  std::vector<AdyenItem> items;  // at least one
};

struct AdyenUnreadable {
  std::string problem;  // "item 1: success is neither \"true\" nor \"false\""
};

// Reads `{"live":..., "notificationItems":[{"NotificationRequestItem":{...}}]}` strictly, since two
// readings of one signed text must not exist. Nothing is coerced: a boolean success or a quoted
// amount is refused. So are doubled names, and a ':' in any signed field but merchantReference
// (nothing is escaped in the signed text, so it would shift into its neighbour), save in the
// pspReference of REPORT_AVAILABLE, which is a file name and touches no payment.
std::variant<AdyenBatch, AdyenUnreadable> read_adyen_batch(std::string_view body);
// The same of a body that is parsed already.
std::variant<AdyenBatch, AdyenUnreadable> read_adyen_batch(JsonDocument document);

// The batch's events, one an item and in that order.
std::vector<NewEvent> adyen_events(const AdyenBatch& batch);

// What Adyen signs: eight fields joined with ':', nothing escaped.
std::string adyen_signed_text(const AdyenItem& item);

// An item as an event. Its id is made of live, eventCode, success and pspReference; of eventDate
// too where one reference sees the same code twice (ISSUER_COMMENTS, INFORMATION_SUPPLIED,
// CAPTURE_FAILED, a CAPTURE that says it is a recapture); and of reason for REPORT_AVAILABLE. Not
// of originalReference: a dispute's event comes with and without it. Readable
// ("test:CAPTURE:true:P1") where no part could be mistaken for another, else a hash.
NewEvent adyen_event(const AdyenBatch& batch, std::size_t index);

// The body with `signatures[i]` as item i's hmacSignature. Rewritten compactly: in this scheme no
// byte of it is signed as such.
std::string with_adyen_signatures(const AdyenBatch& batch,
                                  const std::vector<std::string>& signatures);

}  // namespace hookgate
