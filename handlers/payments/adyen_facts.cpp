// Adyen notification items as facts, keyed by PSP reference. Of the fields outside the signature
// only `reason` (a recapture), `eventDate` and `disputeStatus` are taken, and only for what the
// ledger's policy lets them decide; amounts come from signed fields alone.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "domain/time.h"
#include "handlers/payments/extraction.h"

namespace hookgate {
namespace {

std::string text_of(const Json& field) {
  return std::string{field.string().value_or("")};
}

std::string lower_trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  text = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  std::string result;
  for (const char c : text)
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_recapture(const Json& item) {
  const auto reason = lower_trimmed(text_of(item["reason"]));
  return reason == "transaction recaptured" || reason == "transaction auto-recaptured";
}

Observation observation_of(const Json& item) {
  Observation observation;
  observation.code = text_of(item["eventCode"]);
  observation.status = text_of(item["success"]);
  observation.currency = text_of(item["amount"]["currency"]);
  observation.amount = item["amount"]["value"].integer();
  if (const auto instant = parse_instant(text_of(item["eventDate"])))
    observation.at = instant->time_since_epoch().count();
  observation.reference = text_of(item["merchantReference"]);
  return observation;
}

// Members up to the one named `last`, sorted, each as canonical JSON.
void append_members(std::string& out, const Json& object, std::string_view last) {
  std::map<std::string_view, Json> members;
  for (const auto& [name, value] : object.members()) {
    if (name < last) members[name] = value;
  }
  for (const auto& [name, value] : members) {
    out += quote_json(name) + ':' + canonical_json(value) + ',';
  }
}

// Of two deliveries with one eventDate the greater canonical JSON gives the details. This is that
// text as far as disputeStatus; where it is equal the status is, too. What follows is left out: the
// ledger keeps no more of a body than it needs.
std::string text_up_to_dispute_status(const Json& item) {
  std::string text;
  append_members(text, item, "additionalData");
  const auto& data = item["additionalData"];
  append_members(text, data, "disputeStatus");
  const auto& status = data["disputeStatus"];
  // A delivery without it goes on with a later name, or ends: either is greater.
  return text + (status.is_null() ? "~" : "\"disputeStatus\":" + canonical_json(status));
}

// Stages of a dispute; all stages of one share a pspReference.
bool is_dispute_code(std::string_view code) {
  static constexpr std::array<std::string_view, 20> kCodes{"REQUEST_FOR_INFORMATION",
                                                           "NOTIFICATION_OF_FRAUD",
                                                           "NOTIFICATION_OF_CHARGEBACK",
                                                           "DISPUTE_OPENED_WITH_CHARGEBACK",
                                                           "INFORMATION_SUPPLIED",
                                                           "CHARGEBACK",
                                                           "CHARGEBACK_REVERSED",
                                                           "SECOND_CHARGEBACK",
                                                           "PREARBITRATION_OPEN",
                                                           "PREARBITRATION_ACCEPTED",
                                                           "PREARBITRATION_DECLINED",
                                                           "PREARBITRATION_ISSUER_WITHDRAWN",
                                                           "PREARBITRATION_WON",
                                                           "PREARBITRATION_LOST",
                                                           "SCHEME_ARBITRATION_WON",
                                                           "SCHEME_ARBITRATION_LOST",
                                                           "DISPUTE_DEFENSE_PERIOD_ENDED",
                                                           "ISSUER_COMMENTS",
                                                           "ISSUER_RESPONSE_TIMEFRAME_EXPIRED",
                                                           "SCHEME_ARBITRATION"};
  return std::ranges::find(kCodes, code) != kCodes.end();
}

struct Place {
  std::string_view kind;
  bool own_payment;  // the item's pspReference is the payment's own
};

// Codes that tell the ledger something, and of what.
std::optional<Place> place_of(const std::string& code) {
  if (code == "AUTHORISATION" || code == "PENDING" || code == "OFFER_CLOSED" || code == "EXPIRE") {
    return Place{fact_kind::kAuthorization, true};
  }
  if (code == "AUTHORISATION_ADJUSTMENT") return Place{fact_kind::kAdjustment, false};
  if (code == "CAPTURE" || code == "CAPTURE_FAILED" || code == "SETTLED_REVERSED")
    return Place{fact_kind::kCapture, false};
  if (code == "CANCELLATION" || code == "TECHNICAL_CANCEL")
    return Place{fact_kind::kCancellation, false};
  if (code == "CANCEL_OR_REFUND") return Place{fact_kind::kCancelOrRefund, false};
  if (code == "REFUND" || code == "REFUND_FAILED" || code == "REFUNDED_REVERSED")
    return Place{fact_kind::kRefund, false};
  if (is_dispute_code(code)) return Place{fact_kind::kDispute, false};
  return std::nullopt;
}

}  // namespace

Extraction extract_adyen(const Json& item) {
  const auto code = text_of(item["eventCode"]);
  const auto place = place_of(code);
  if (!place) return NotForTheLedger{};
  const auto own = text_of(item["pspReference"]);
  if (own.empty()) return Unreadable{"an item without a pspReference"};
  auto observation = observation_of(item);
  if (!observation.amount || *observation.amount < 0)
    return Unreadable{"an item without an integer amount of at least 0"};
  if (code == "CAPTURE" && observation.status == "true" && is_recapture(item))
    observation.reason = "recaptured";
  if (place->kind == fact_kind::kDispute)
    observation.reason = text_of(item["additionalData"]["disputeStatus"]);
  if (code == "CHARGEBACK") observation.details = text_up_to_dispute_status(item);

  FactUpdate update;
  update.fact.kind = place->kind;
  update.fact.id = own;
  update.payment = place->own_payment ? own : text_of(item["originalReference"]);
  if (update.payment.empty() && place->kind != fact_kind::kDispute) {
    return Unreadable{"a modification without an originalReference"};
  }
  observation.payment = update.payment;
  update.fact.observations.insert(std::move(observation));
  return Extracted{text_of(item["merchantAccountCode"]), {std::move(update)}};
}

}  // namespace hookgate
