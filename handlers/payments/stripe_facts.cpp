// Stripe events as facts. The unit of money is the object (pi_, ch_, re_, du_), never the event:
// several event types tell of one change, and snapshots carry running totals. Source: reference on
// Stripe's objects and money traps; policy of the ledger in handlers/README.md.
#include <algorithm>

#include "handlers/payments/extraction.h"

namespace hookgate {
namespace {

// The id in a field that is an id or an expanded object.
std::string id_of(const Json& field) {
  if (const auto text = field.string()) return std::string{*text};
  return std::string{field["id"].string().value_or("")};
}

std::string text_of(const Json& field) {
  return std::string{field.string().value_or("")};
}

std::string reference_of(const Json& object) {
  for (const auto* name : {"order", "order_id"}) {
    if (const auto text = object["metadata"][name].string(); text && !text->empty())
      return std::string{*text};
  }
  return "";
}

// What all objects of an event have in common.
Observation observation_of(const Json& event, const Json& object) {
  Observation observation;
  observation.code = text_of(event["type"]);
  observation.status = text_of(object["status"]);
  observation.currency = text_of(object["currency"]);
  observation.amount = object["amount"].integer();
  observation.at = event["created"].integer();
  const auto version = text_of(event["api_version"]);
  observation.version = version.empty() ? "-" : version;
  observation.reference = reference_of(object);
  return observation;
}

FactUpdate update_of(std::string_view kind, const Json& object, std::string payment,
                     Observation observation) {
  FactUpdate update;
  update.payment = std::move(payment);
  update.fact.kind = kind;
  update.fact.id = id_of(object["id"]);
  update.fact.observations.insert(std::move(observation));
  return update;
}

bool has_wrong_type(const Json& field) {
  return !field.is_null() && !field.integer();
}

Extraction intent(const Json& event, const Json& object) {
  if (!object["amount"].integer() || has_wrong_type(object["amount_received"])) {
    return Unreadable{"a payment intent without an integer amount"};
  }
  auto observation = observation_of(event, object);
  observation.captured = object["amount_received"].integer();
  observation.reason = text_of(object["cancellation_reason"]);
  return Extracted{
      "", {update_of(fact_kind::kIntent, object, id_of(object["id"]), std::move(observation))}};
}

FactUpdate refund_update(const Json& event, const Json& refund, const std::string& payment,
                         const std::string& charge) {
  auto observation = observation_of(event, refund);
  observation.reason = text_of(refund["reason"]);
  if (const auto created = refund["created"].integer()) observation.at = created;
  auto update = update_of(fact_kind::kRefund, refund, payment, std::move(observation));
  update.fact.parent = charge;
  return update;
}

Extraction charge(const Json& event, const Json& object) {
  if (!object["amount"].integer() || has_wrong_type(object["amount_captured"]) ||
      has_wrong_type(object["amount_refunded"])) {
    return Unreadable{"a charge without integer amounts"};
  }
  auto observation = observation_of(event, object);
  const bool captured = object["captured"].boolean().value_or(false);
  observation.captured = object["amount_captured"].integer();
  if (!observation.captured)
    observation.captured = captured ? observation.amount : std::optional<std::int64_t>{0};
  observation.refunded = object["amount_refunded"].integer();
  const auto id = id_of(object["id"]);
  const auto intent_id = id_of(object["payment_intent"]);
  // A charge without an intent is a payment of its own.
  const auto payment = intent_id.empty() ? id : intent_id;
  Extracted extracted;
  extracted.updates.push_back(
      update_of(fact_kind::kCharge, object, payment, std::move(observation)));
  for (const auto& refund : object["refunds"]["data"].elements()) {
    if (!id_of(refund["id"]).empty() && refund["amount"].integer()) {
      extracted.updates.push_back(refund_update(event, refund, payment, id));
    }
  }
  return extracted;
}

Extraction refund(const Json& event, const Json& object) {
  if (!object["amount"].integer()) return Unreadable{"a refund without an integer amount"};
  const auto payment = id_of(object["payment_intent"]);
  const auto charge_id = id_of(object["charge"]);
  if (payment.empty() && charge_id.empty())
    return Unreadable{"a refund that names neither charge nor payment intent"};
  return Extracted{"", {refund_update(event, object, payment, charge_id)}};
}

Extraction dispute(const Json& event, const Json& object) {
  if (!object["amount"].integer()) return Unreadable{"a dispute without an integer amount"};
  const auto payment = id_of(object["payment_intent"]);
  const auto charge_id = id_of(object["charge"]);
  if (payment.empty() && charge_id.empty())
    return Unreadable{"a dispute that names neither charge nor payment intent"};
  auto update = update_of(fact_kind::kDispute, object, payment, observation_of(event, object));
  update.fact.parent = charge_id;
  return Extracted{"", {std::move(update)}};
}

}  // namespace

Extraction extract_stripe(const Json& event) {
  const auto type = event["type"].string().value_or("");
  const auto& object = event.at({"data", "object"});
  const auto begins = [&](std::string_view prefix) { return type.starts_with(prefix); };
  Extraction extraction = NotForTheLedger{};
  if (begins("payment_intent.")) {
    extraction = intent(event, object);
  } else if (begins("charge.dispute.")) {
    extraction = dispute(event, object);
  } else if (begins("refund.") || begins("charge.refund.")) {
    extraction = refund(event, object);
  } else if (begins("charge.")) {
    extraction = charge(event, object);
  } else {
    return NotForTheLedger{};
  }
  if (id_of(object["id"]).empty()) return Unreadable{"an object without an id"};
  if (auto* extracted = std::get_if<Extracted>(&extraction))
    extracted->account = text_of(event["account"]);
  return extraction;
}

}  // namespace hookgate
