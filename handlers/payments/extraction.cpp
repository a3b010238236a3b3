#include "handlers/payments/extraction.h"

#include "domain/text.h"

namespace hookgate {
namespace {

// Longest id of an object. A cut id could be another's, so that a longer one is refused.
constexpr std::size_t kIdBytesMax = 255;

Extraction extract_raw(std::string_view provider, std::string_view body, int item) {
  if (provider != "stripe" && provider != "adyen") return NotForTheLedger{};
  const auto parsed = parse_json(body);
  if (const auto* error = std::get_if<JsonError>(&parsed))
    return Unreadable{"the body is not JSON: " + error->message};
  const auto& root = std::get<JsonDocument>(parsed).root;
  if (provider == "stripe") return extract_stripe(root);
  const auto items = root["notificationItems"].elements();
  if (item < 0 || static_cast<std::size_t>(item) >= items.size()) return NotForTheLedger{};
  return extract_adyen(items[static_cast<std::size_t>(item)]["NotificationRequestItem"]);
}

// What cannot enter a text column is replaced, in the same way every time.
Observation cleaned(Observation observation) {
  for (auto* text :
       {&observation.code, &observation.status, &observation.currency, &observation.payment,
        &observation.reason, &observation.version, &observation.reference, &observation.details}) {
    *text = clean_text(*text);
  }
  return observation;
}

}  // namespace

Extraction extract(std::string_view provider, std::string_view body, int item) {
  auto extraction = extract_raw(provider, body, item);
  auto* extracted = std::get_if<Extracted>(&extraction);
  if (extracted == nullptr) return extraction;
  bool ids_fit = extracted->account.size() <= kIdBytesMax;
  extracted->account = clean_text(extracted->account);
  for (auto& update : extracted->updates) {
    for (auto* id : {&update.payment, &update.fact.id, &update.fact.parent}) {
      ids_fit = ids_fit && id->size() <= kIdBytesMax;
      *id = clean_text(*id);
    }
    std::set<Observation> observations;
    for (const auto& seen : update.fact.observations) observations.insert(cleaned(seen));
    update.fact.observations = std::move(observations);
  }
  if (!ids_fit) return Unreadable{"an id of more than 255 bytes"};
  return extraction;
}

}  // namespace hookgate
