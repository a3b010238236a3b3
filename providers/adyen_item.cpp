#include "providers/adyen_item.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "crypto/digest.h"
#include "domain/http_message.h"
#include "domain/text.h"
#include "domain/time.h"
#include "providers/provider_support.h"

namespace hookgate {
namespace {

constexpr std::size_t kItemsMax = 1000;  // Adyen sends one, of old up to six
constexpr std::size_t kReadableIdBytesMax = 200;
constexpr std::string_view kReportAvailable = "REPORT_AVAILABLE";
constexpr std::string_view kItems = "notificationItems";
constexpr std::string_view kItem = "NotificationRequestItem";
constexpr std::string_view kAdditionalData = "additionalData";
constexpr std::string_view kSignature = "hmacSignature";

// Fills one item and says what is wrong with it; "" for nothing.
class ItemReader {
 public:
  explicit ItemReader(const Json& json) : json_(json) { item_.json = json; }

  std::string read() {
    if (!json_.is_object()) return "is not an object with a NotificationRequestItem";
    item_.psp_reference = text("pspReference");
    item_.original_reference = text_or_nothing("originalReference");
    item_.merchant_account_code = text("merchantAccountCode");
    item_.merchant_reference = text_or_nothing("merchantReference");
    item_.event_code = text("eventCode");
    item_.success = text("success");
    const auto& amount = json_["amount"];
    if (!amount["value"].integer()) note("amount.value is not an integer");
    item_.amount_value = amount["value"].number_text();
    item_.amount_currency = amount["currency"].string().value_or("");
    if (!amount["currency"].is_string()) note("amount.currency is not a text");
    if (item_.success != "true" && item_.success != "false") {
      note("success is neither \"true\" nor \"false\"");
    }
    refuse_colons();
    item_.signature = json_[kAdditionalData][kSignature].string();
    if (item_.signature == "") item_.signature.reset();
    return problem_;
  }

  const AdyenItem& item() const { return item_; }

 private:
  void note(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  std::string_view text(std::string_view name) {
    const auto& value = json_[name];
    if (!value.is_string()) note(std::string{name} + " is not a text");
    return value.string().value_or("");
  }

  std::string_view text_or_nothing(std::string_view name) {
    return json_[name].is_null() ? std::string_view{} : text(name);
  }

  void refuse_colons() {
    const bool names_a_file = item_.event_code == kReportAvailable;
    const std::array fields{
        std::pair{"pspReference", names_a_file ? std::string_view{} : item_.psp_reference},
        std::pair{"originalReference", item_.original_reference},
        std::pair{"merchantAccountCode", item_.merchant_account_code},
        std::pair{"amount.currency", item_.amount_currency},
        std::pair{"eventCode", item_.event_code},
    };
    for (const auto& [name, value] : fields) {
      if (value.find(':') != std::string_view::npos) note(std::string{name} + " holds a ':'");
    }
  }

  Json json_;
  AdyenItem item_;
  std::string problem_;
};

bool says_recaptured(std::string_view reason) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const auto first = std::min(reason.find_first_not_of(kSpace), reason.size());
  const auto trimmed = reason.substr(first, reason.find_last_not_of(kSpace) - first + 1);
  return equal_ignoring_case(trimmed, "Transaction Recaptured") ||
         equal_ignoring_case(trimmed, "Transaction Auto-recaptured");
}

bool has_date_in_id(const AdyenItem& item) {
  if (item.event_code == "CAPTURE") {
    const auto reason = item.json["reason"].string().value_or("");
    return item.success == "true" && says_recaptured(reason);
  }
  return item.event_code == "ISSUER_COMMENTS" || item.event_code == "INFORMATION_SUPPLIED" ||
         item.event_code == "CAPTURE_FAILED";
}

// The instant in unix seconds, so that one date is one text in every time zone; as it came when it
// is no date.
std::string date_part(const Json& event_date) {
  const auto text = event_date.string().value_or("");
  const auto instant = parse_instant(text);
  return instant ? std::to_string(unix_seconds(*instant)) : std::string{text};
}

bool is_plain(std::string_view part) {
  return !part.empty() && std::ranges::all_of(part, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

std::string event_id_of(const AdyenItem& item, const std::optional<bool>& live,
                        std::string_view scope) {
  const std::string environment = !live ? "unknown" : *live ? "live" : "test";
  std::vector<std::string> parts{environment, std::string{item.event_code},
                                 std::string{item.success}, std::string{item.psp_reference}};
  if (has_date_in_id(item)) parts.push_back(date_part(item.json["eventDate"]));
  bool readable = item.event_code != kReportAvailable && std::ranges::all_of(parts, is_plain);
  if (item.event_code == kReportAvailable) {
    parts.emplace_back(item.json["reason"].string().value_or(""));
  }
  // The scope column cannot hold every account code; two that look alike there still differ here.
  if (scope != item.merchant_account_code) {
    parts.emplace_back(item.merchant_account_code);
    readable = false;
  }
  std::string id;
  for (const auto& part : parts) id += (id.empty() ? "" : ":") + part;
  if (readable && id.size() <= kReadableIdBytesMax) return id;
  return hashed_id(join_with_lengths(parts));
}

std::optional<bool> live_of(const Json& root) {
  const auto live = root["live"].string();
  if (live == "true") return true;
  if (live == "false") return false;
  return std::nullopt;
}

// `{"name":text,...}` in the order of `object`, with one member's text replaced or added.
std::string with_member(const Json& object, std::string_view name, const std::string& text) {
  std::string out = "{";
  bool replaced = false;
  for (const auto& [member, value] : object.members()) {
    if (out.size() > 1) out += ',';
    const bool is_it = member == name;
    replaced = replaced || is_it;
    out.append(quote_json(member)).append(1, ':').append(is_it ? text : canonical_json(value));
  }
  if (!replaced) {
    if (out.size() > 1) out += ',';
    out.append(quote_json(name)).append(1, ':').append(text);
  }
  out += '}';
  return out;
}

}  // namespace

std::variant<AdyenBatch, AdyenUnreadable> read_adyen_batch(std::string_view body) {
  auto parsed = parse_json(body);
  if (const auto* error = std::get_if<JsonError>(&parsed)) {
    return AdyenUnreadable{"body is not JSON: " + error->message};
  }
  return read_adyen_batch(std::get<JsonDocument>(std::move(parsed)));
}

std::variant<AdyenBatch, AdyenUnreadable> read_adyen_batch(JsonDocument document) {
  if (document.has_doubled_keys()) return AdyenUnreadable{"an object names a member twice"};
  AdyenBatch batch;
  batch.document = std::move(document);
  const auto items = batch.document.root[kItems].elements();
  if (items.empty()) return AdyenUnreadable{"body has no notificationItems"};
  if (items.size() > kItemsMax) {
    return AdyenUnreadable{"body has more than " + std::to_string(kItemsMax) + " items"};
  }
  for (const auto& item : items) {
    ItemReader reader{item[kItem]};
    if (const auto problem = reader.read(); !problem.empty()) {
      return AdyenUnreadable{"item " + std::to_string(batch.items.size()) + ": " + problem};
    }
    batch.items.push_back(reader.item());
  }
  return batch;
}

std::string adyen_signed_text(const AdyenItem& item) {
  std::string text;
  for (const auto field :
       {item.psp_reference, item.original_reference, item.merchant_account_code,
        item.merchant_reference, item.amount_value, item.amount_currency, item.event_code}) {
    text += field;
    text += ':';
  }
  return text.append(item.success);
}

std::vector<NewEvent> adyen_events(const AdyenBatch& batch) {
  std::vector<NewEvent> events;
  events.reserve(batch.items.size());
  for (std::size_t i = 0; i < batch.items.size(); ++i) events.push_back(adyen_event(batch, i));
  return events;
}

NewEvent adyen_event(const AdyenBatch& batch, std::size_t index) {
  const auto& item = batch.items.at(index);
  NewEvent event;
  event.scope = clean_text(item.merchant_account_code, kTextBytesMax);
  event.account = event.scope;
  event.live = live_of(batch.document.root);
  event.event_id = event_id_of(item, event.live, event.scope);
  event.event_type = clean_text(item.event_code, kTextBytesMax);
  event.subject =
      clean_text(item.original_reference.empty() ? item.psp_reference : item.original_reference,
                 kTextBytesMax);
  event.occurred_at = parse_instant(item.json["eventDate"].string().value_or(""));
  event.content =
      sha256(join_with_lengths({canonical_json(item.json, {kAdditionalData}),
                                canonical_json(item.json[kAdditionalData], {kSignature})}));
  event.signed_content = sha256(
      join_with_lengths({item.psp_reference, item.original_reference, item.merchant_account_code,
                         item.merchant_reference, item.amount_value, item.amount_currency,
                         item.event_code, item.success}));
  event.item = static_cast<int>(index);
  return event;
}

std::string with_adyen_signatures(const AdyenBatch& batch,
                                  const std::vector<std::string>& signatures) {
  std::string items = "[";
  for (std::size_t i = 0; i < batch.items.size(); ++i) {
    const auto& item = batch.items[i].json;
    const auto additional =
        with_member(item[kAdditionalData], kSignature, quote_json(signatures.at(i)));
    if (i > 0) items += ',';
    items.append(1, '{').append(quote_json(kItem)).append(1, ':');
    items.append(with_member(item, kAdditionalData, additional)).append(1, '}');
  }
  items += ']';
  return with_member(batch.document.root, kItems, items);
}

}  // namespace hookgate
