#include "handlers/payments/fact.h"

#include <algorithm>
#include <iterator>

#include "domain/json.h"

namespace hookgate {
namespace {

void append_text(std::string& out, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  out += out.back() == '{' ? "" : ",";
  out += quote_json(name) + ":" + quote_json(value);
}

void append_number(std::string& out, std::string_view name,
                   const std::optional<std::int64_t>& value) {
  if (!value) return;
  out += out.back() == '{' ? "" : ",";
  out += quote_json(name) + ":" + std::to_string(*value);
}

std::string text_of(const Json& object, std::string_view name) {
  return std::string{object[name].string().value_or("")};
}

}  // namespace

bool Fact::merge(const Fact& other) {
  const auto before = observations;
  const auto parent_before = parent;
  if (!other.parent.empty())
    parent = parent.empty() ? other.parent : std::min(parent, other.parent);
  observations.insert(other.observations.begin(), other.observations.end());
  while (observations.size() > kObservationsMax) observations.erase(std::prev(observations.end()));
  return parent != parent_before || observations != before;
}

std::string Fact::named_payment() const {
  std::string least;
  for (const auto& seen : observations) {
    if (!seen.payment.empty() && (least.empty() || seen.payment < least)) least = seen.payment;
  }
  return least;
}

bool Fact::names_several_payments() const {
  const auto one = named_payment();
  return std::ranges::any_of(observations, [&](const Observation& seen) {
    return !seen.payment.empty() && seen.payment != one;
  });
}

std::string observations_json(const std::set<Observation>& observations) {
  std::string out = "[";
  for (const auto& observation : observations) {
    if (out.size() > 1) out += ',';
    out += '{';
    append_text(out, "code", observation.code);
    append_text(out, "status", observation.status);
    append_text(out, "currency", observation.currency);
    append_number(out, "amount", observation.amount);
    append_number(out, "captured", observation.captured);
    append_number(out, "refunded", observation.refunded);
    append_number(out, "at", observation.at);
    append_number(out, "made_at", observation.made_at);
    append_text(out, "payment", observation.payment);
    append_text(out, "reason", observation.reason);
    append_text(out, "version", observation.version);
    append_text(out, "reference", observation.reference);
    append_text(out, "details", observation.details);
    out += '}';
  }
  return out + "]";
}

std::set<Observation> parse_observations(std::string_view json) {
  std::set<Observation> observations;
  const auto parsed = parse_json(json);
  const auto* document = std::get_if<JsonDocument>(&parsed);
  if (document == nullptr) return observations;
  for (const auto& element : document->root.elements()) {
    Observation observation;
    observation.code = text_of(element, "code");
    observation.status = text_of(element, "status");
    observation.currency = text_of(element, "currency");
    observation.amount = element["amount"].integer();
    observation.captured = element["captured"].integer();
    observation.refunded = element["refunded"].integer();
    observation.at = element["at"].integer();
    observation.made_at = element["made_at"].integer();
    observation.payment = text_of(element, "payment");
    observation.reason = text_of(element, "reason");
    observation.version = text_of(element, "version");
    observation.reference = text_of(element, "reference");
    observation.details = text_of(element, "details");
    observations.insert(std::move(observation));
  }
  return observations;
}

}  // namespace hookgate
