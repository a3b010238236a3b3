#include "handlers/payments/fact.h"

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
  bool grew = false;
  if (parent.empty() && !other.parent.empty()) {
    parent = other.parent;
    grew = true;
  }
  for (const auto& observation : other.observations) {
    if (observations.size() >= kObservationsMax) break;
    grew = observations.insert(observation).second || grew;
  }
  return grew;
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
    append_text(out, "reason", observation.reason);
    append_text(out, "version", observation.version);
    append_text(out, "reference", observation.reference);
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
    observation.reason = text_of(element, "reason");
    observation.version = text_of(element, "version");
    observation.reference = text_of(element, "reference");
    observations.insert(std::move(observation));
  }
  return observations;
}

}  // namespace hookgate
