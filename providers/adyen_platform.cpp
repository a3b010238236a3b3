#include "providers/adyen_platform.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "crypto/digest.h"
#include "domain/json.h"
#include "domain/text.h"
#include "domain/time.h"
#include "providers/adyen_item.h"
#include "providers/provider_support.h"

namespace hookgate {
namespace {

// The first of these members that is a text and not empty; "" for none.
std::string_view first_text(const Json& object, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    const auto text = object[name].string();
    if (text && !text->empty()) return *text;
  }
  return "";
}

// Ids of the objects in `data`: its own, else those of the objects one level down, by name.
std::vector<std::string> object_ids(const Json& data) {
  const auto own = first_text(data, {"id"});
  if (!own.empty()) return {std::string{own}};
  std::vector<std::pair<std::string, std::string>> nested;
  for (const auto& [name, value] : data.members()) {
    const auto id = first_text(value, {"id"});
    if (!id.empty()) nested.emplace_back(name, id);
  }
  std::ranges::sort(nested);
  std::vector<std::string> ids;
  ids.reserve(nested.size());
  for (auto& [name, id] : nested) ids.push_back(std::move(id));
  if (ids.empty()) {
    const auto reference = first_text(data, {"pspReference"});
    if (!reference.empty()) ids.emplace_back(reference);
  }
  return ids;
}

std::string event_id_of(const Json& root, const std::vector<std::string>& ids,
                        std::string_view time, const std::string& canonical) {
  const auto event_id = root["eventId"].string();
  if (event_id && is_usable_id(*event_id)) return std::string{*event_id};
  const auto& number = root.at({"data", "sequenceNumber"});
  const std::string sequence{number.is_number() ? number.number_text()
                                                : number.string().value_or("")};
  // An object's id alone would make all its updates one event.
  if (ids.empty() || (time.empty() && sequence.empty())) return hashed_id(canonical);
  const auto instant = parse_instant(time);
  std::vector<std::string> parts{std::string{root["type"].string().value_or("")},
                                 instant ? format_instant(*instant) : std::string{time}, sequence};
  parts.insert(parts.end(), ids.begin(), ids.end());
  return hashed_id(join_with_lengths(parts));
}

std::optional<bool> live_of(const Json& root) {
  const auto environment = root["environment"].string();
  if (environment == "live") return true;
  if (environment == "test") return false;
  return std::nullopt;
}

NewEvent platform_event(const Json& root) {
  const auto& data = root["data"];
  const auto ids = object_ids(data);
  const auto time = first_text(root, {"createdAt", "timestamp"});
  const auto canonical = canonical_json(root);
  NewEvent event;
  event.event_id = event_id_of(root, ids, time, canonical);
  event.account = clean_text(
      first_text(data, {"merchantAccount", "merchantAccountCode", "merchantId", "balancePlatform"}),
      kTextBytesMax);
  event.scope = event.account;
  event.event_type = text_of(root["type"]);
  event.subject = ids.empty() ? "" : clean_text(ids.front(), kTextBytesMax);
  event.occurred_at = parse_instant(time.empty() ? first_text(data, {"creationDate"}) : time);
  event.live = live_of(root);
  event.content = sha256(canonical);
  event.signed_content = event.content;
  return event;
}

}  // namespace

std::vector<NewEvent> adyen_header_events(std::string_view body) {
  auto parsed = parse_json(body);
  if (const auto* error = std::get_if<JsonError>(&parsed)) {
    return {unusable_event(body, "body is not JSON: " + error->message)};
  }
  auto& document = std::get<JsonDocument>(parsed);
  const auto& root = document.root;
  if (!root.is_object()) return {unusable_event(body, "body is not a JSON object")};
  if (root["notificationItems"].is_null()) return {platform_event(root)};

  const auto read = read_adyen_batch(std::move(document));
  if (const auto* unreadable = std::get_if<AdyenUnreadable>(&read)) {
    return {unusable_event(body, unreadable->problem)};
  }
  return adyen_events(std::get<AdyenBatch>(read));
}

}  // namespace hookgate
