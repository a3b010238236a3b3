// Stripe events as facts. The unit of money is the object (pi_, ch_, re_, du_), never the event:
// several event types tell of one change, and snapshots carry running totals. Source: reference on
// Stripe's objects and money traps; policy of the ledger in handlers/README.md.
#include <set>

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

// Unix seconds as microseconds; nothing for what is no date anybody means.
std::optional<std::int64_t> instant_of(const Json& field) {
  constexpr std::int64_t kYear9999 = 253'402'300'799;
  const auto seconds = field.integer();
  if (!seconds || *seconds < 0 || *seconds > kYear9999) return std::nullopt;
  return *seconds * 1'000'000;
}

// What all objects of an event have in common.
Observation observation_of(const Json& event, const Json& object) {
  Observation observation;
  observation.code = text_of(event["type"]);
  observation.status = text_of(object["status"]);
  observation.currency = text_of(object["currency"]);
  observation.amount = object["amount"].integer();
  observation.at = instant_of(event["created"]);
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
  observation.payment = update.payment;
  update.fact.observations.insert(std::move(observation));
  return update;
}

bool is_amount(const Json& field) {
  return field.integer().value_or(-1) >= 0;
}
bool is_amount_or_absent(const Json& field) {
  return field.is_null() || is_amount(field);
}

// Says only that the charge belongs to the payment: it names no amount and moves nothing.
FactUpdate link(const Json& event, const std::string& charge, const std::string& payment) {
  Observation observation;
  observation.code = text_of(event["type"]);
  observation.payment = payment;
  observation.at = instant_of(event["created"]);
  const auto version = text_of(event["api_version"]);
  observation.version = version.empty() ? "-" : version;
  FactUpdate update;
  update.payment = payment;
  update.fact.kind = fact_kind::kCharge;
  update.fact.id = charge;
  update.fact.observations.insert(std::move(observation));
  return update;
}

Extraction intent(const Json& event, const Json& object) {
  if (!is_amount(object["amount"]) || !is_amount_or_absent(object["amount_received"])) {
    return Unreadable{"a payment intent without an integer amount of at least 0"};
  }
  auto observation = observation_of(event, object);
  observation.captured = object["amount_received"].integer();
  observation.reason = text_of(object["cancellation_reason"]);
  const auto id = id_of(object["id"]);
  Extracted extracted;
  extracted.updates.push_back(update_of(fact_kind::kIntent, object, id, std::move(observation)));
  std::set<std::string> charges{id_of(object["latest_charge"])};
  for (const auto& charge : object["charges"]["data"].elements()) charges.insert(id_of(charge));
  for (const auto& charge : charges) {
    if (!charge.empty()) extracted.updates.push_back(link(event, charge, id));
  }
  return extracted;
}

// An invoice is never a second capture; it may know whose the charge is.
Extraction invoice(const Json& event, const Json& object) {
  const auto payment = id_of(object["payment_intent"]);
  const auto charge = id_of(object["charge"]);
  if (payment.empty() || charge.empty()) return NotForTheLedger{};
  return Extracted{"", {link(event, charge, payment)}};
}

FactUpdate refund_update(const Json& event, const Json& refund, const std::string& payment,
                         const std::string& charge) {
  auto observation = observation_of(event, refund);
  observation.reason = text_of(refund["reason"]);
  observation.made_at = instant_of(refund["created"]);
  auto update = update_of(fact_kind::kRefund, refund, payment, std::move(observation));
  update.fact.parent = charge;
  return update;
}

Extraction charge(const Json& event, const Json& object) {
  if (!is_amount(object["amount"]) || !is_amount_or_absent(object["amount_captured"]) ||
      !is_amount_or_absent(object["amount_refunded"])) {
    return Unreadable{"a charge without integer amounts of at least 0"};
  }
  auto observation = observation_of(event, object);
  const bool captured = object["captured"].boolean().value_or(false);
  observation.captured = object["amount_captured"].integer();
  if (!observation.captured)
    observation.captured = captured ? observation.amount : std::optional<std::int64_t>{0};
  observation.refunded = object["amount_refunded"].integer();
  const auto id = id_of(object["id"]);
  const auto payment = id_of(object["payment_intent"]);
  Extracted extracted;
  extracted.updates.push_back(
      update_of(fact_kind::kCharge, object, payment, std::move(observation)));
  for (const auto& refund : object["refunds"]["data"].elements()) {
    if (!id_of(refund["id"]).empty() && is_amount(refund["amount"])) {
      extracted.updates.push_back(refund_update(event, refund, payment, id));
    }
  }
  return extracted;
}

Extraction refund(const Json& event, const Json& object) {
  if (!is_amount(object["amount"]))
    return Unreadable{"a refund without an integer amount of at least 0"};
  const auto payment = id_of(object["payment_intent"]);
  const auto charge_id = id_of(object["charge"]);
  if (payment.empty() && charge_id.empty())
    return Unreadable{"a refund that names neither charge nor payment intent"};
  return Extracted{"", {refund_update(event, object, payment, charge_id)}};
}

Extraction dispute(const Json& event, const Json& object) {
  if (!is_amount(object["amount"]))
    return Unreadable{"a dispute without an integer amount of at least 0"};
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
  } else if (type == "invoice.paid" || type == "invoice.payment_succeeded") {
    extraction = invoice(event, object);
    if (std::holds_alternative<NotForTheLedger>(extraction)) return extraction;
  } else {
    return NotForTheLedger{};
  }
  if (id_of(object["id"]).empty()) return Unreadable{"an object without an id"};
  if (auto* extracted = std::get_if<Extracted>(&extraction))
    extracted->account = text_of(event["account"]);
  return extraction;
}

}  // namespace hookgate
