#include "providers/stripe.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "crypto/constant_time.h"
#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/hmac.h"
#include "domain/json.h"
#include "providers/provider_support.h"

namespace hookgate {
namespace {

constexpr std::string_view kSignatureHeader = "Stripe-Signature";
constexpr std::string_view kPaymentIntent = "payment_intent";
constexpr std::size_t kSignatureBytes = 32;
constexpr std::int64_t kYear9999 = 253'402'300'799;  // unix seconds; PostgreSQL holds more

struct SignatureHeader {
  std::string_view timestamp;  // as signed
  SystemTime sent_at;
  std::vector<std::string> signatures;  // of scheme v1, decoded; at least one
};

// The header's elements before they are judged.
struct HeaderElements {
  std::vector<std::string_view> timestamps;
  std::vector<std::string> signatures;
  bool has_v1 = false;  // even if none could be decoded
};

Rejected malformed(std::string detail) {
  return {RejectReason::kSignatureMalformed, std::move(detail)};
}

std::variant<HeaderElements, Rejected> split_header(std::string_view header) {
  if (header.size() > kSignatureHeaderBytesMax) return malformed("the header is too long");
  if (std::ranges::count(header, ',') >= static_cast<std::ptrdiff_t>(kSignatureElementsMax)) {
    return malformed("the header has too many elements");
  }
  HeaderElements elements;
  while (!header.empty()) {
    const auto comma = std::min(header.find(','), header.size());
    const auto element = strip_blanks(header.substr(0, comma));
    header.remove_prefix(std::min(comma + 1, header.size()));
    const auto equals = element.find('=');
    if (equals == std::string_view::npos) continue;
    const auto key = element.substr(0, equals);
    const auto value = element.substr(equals + 1);
    if (key == "t") elements.timestamps.push_back(value);
    if (key != "v1") continue;
    elements.has_v1 = true;
    auto signature = hex_decode(value);
    if (signature && signature->size() == kSignatureBytes) {
      elements.signatures.push_back(*std::move(signature));
    }
  }
  return elements;
}

std::variant<SignatureHeader, Rejected> read_signature_header(const InboundRequest& request) {
  const auto header = single_header(request, kSignatureHeader);
  if (const auto* rejected = std::get_if<Rejected>(&header)) return *rejected;
  auto split = split_header(std::get<std::string_view>(header));
  if (const auto* rejected = std::get_if<Rejected>(&split)) return *rejected;
  auto& elements = std::get<HeaderElements>(split);
  if (elements.timestamps.empty() && !elements.has_v1) {
    return malformed("the header holds neither t nor v1");
  }
  if (elements.timestamps.size() > 1) return malformed("the header holds t more than once");
  if (!elements.has_v1) return Rejected{RejectReason::kSignatureMissing, "no v1 in the header"};
  if (elements.signatures.empty()) return malformed("no v1 is 64 hex digits");
  const auto timestamp = elements.timestamps.empty() ? "" : elements.timestamps.front();
  const auto sent_at = parse_unix_seconds(timestamp);
  if (!sent_at) {
    return Rejected{RejectReason::kTimestampMalformed, "t is not a number of unix seconds"};
  }
  return SignatureHeader{timestamp, *sent_at, std::move(elements.signatures)};
}

// What the head alone can tell: it is asked before any HMAC, by `verify` too, so that both agree.
std::variant<SignatureHeader, Rejected> judge_head(const InboundRequest& head, SystemTime now,
                                                   std::chrono::seconds tolerance) {
  auto read = read_signature_header(head);
  if (const auto* header = std::get_if<SignatureHeader>(&read)) {
    if (auto rejected = judge_age(header->sent_at, now, tolerance)) return *std::move(rejected);
  }
  return read;
}

bool is_signed_with(const Secret& secret, const SignatureHeader& header, std::string_view body) {
  const auto mac = hmac_sha256(secret.reveal(), {header.timestamp, ".", body});
  bool matched = false;
  for (const auto& signature : header.signatures) {
    if (equal_in_constant_time(signature, bytes_of(mac))) matched = true;
  }
  return matched;
}

// Unix seconds in snapshot events, an RFC 3339 text in thin ones.
std::optional<SystemTime> created_at(const Json& created) {
  if (const auto text = created.string()) return parse_instant(*text);
  const auto seconds = created.integer();
  if (!seconds || *seconds < 0 || *seconds > kYear9999) return std::nullopt;
  return SystemTime{std::chrono::seconds{*seconds}};
}

// The payment an event is about where it names one, so that all events of a payment share their
// subject; else the object itself.
std::string subject_of(const Json& event) {
  const auto& object = event.at({"data", "object"});
  if (!object.is_object()) return text_of(event.at({"related_object", "id"}));
  if (object["object"].string() != kPaymentIntent) {
    const auto& payment = object[kPaymentIntent];  // its id, or the whole object when expanded
    auto subject = text_of(payment.is_object() ? payment["id"] : payment);
    if (!subject.empty()) return subject;
  }
  return text_of(object["id"]);
}

}  // namespace

Stripe::Stripe(const ProviderSettings& settings)
    : secrets_(settings.secrets), tolerance_(settings.tolerance) {
  require_secrets(secrets_);
  require_tolerance(tolerance_);
}

Verdict Stripe::verify(const InboundRequest& request, SystemTime now) const {
  const auto judged = judge_head(request, now, tolerance_);
  if (const auto* rejected = std::get_if<Rejected>(&judged)) return *rejected;
  const auto& header = std::get<SignatureHeader>(judged);
  const auto secret = std::ranges::find_if(secrets_, [&](const Secret& candidate) {
    return is_signed_with(candidate, header, request.body);
  });
  if (secret == secrets_.end()) {
    return Rejected{RejectReason::kSignatureMismatch, "no v1 matches a configured secret"};
  }
  if (request.body.empty()) return Rejected{RejectReason::kBodyUnreadable, "the body is empty"};
  return Verified{static_cast<std::size_t>(secret - secrets_.begin())};
}

std::optional<Rejected> Stripe::refuse_by_head(const InboundRequest& head, SystemTime now) const {
  return rejection_in(judge_head(head, now, tolerance_));
}

std::vector<NewEvent> Stripe::events(const InboundRequest& request) const {
  const auto parsed = parse_json(request.body);
  if (const auto* error = std::get_if<JsonError>(&parsed)) {
    return {unusable_event(request.body, "body is not JSON: " + error->message)};
  }
  const auto& root = std::get<JsonDocument>(parsed).root;
  if (!root.is_object()) return {unusable_event(request.body, "body is not a JSON object")};
  const auto id = root["id"].string();
  if (!id || !is_usable_id(*id)) return {unusable_event(request.body, "body has no usable id")};

  NewEvent event;
  event.scope = text_of(root["account"]);
  event.event_id = *id;
  event.event_type = text_of(root["type"]);
  event.subject = subject_of(root);
  event.occurred_at = created_at(root["created"]);
  event.live = root["livemode"].boolean();
  event.content = sha256(canonical_json(root, {"pending_webhooks"}));
  event.signed_content = event.content;
  return {std::move(event)};
}

void Stripe::sign(InboundRequest& request, SystemTime now) const {
  const auto timestamp = std::to_string(unix_seconds(now));
  const auto mac = hmac_sha256(secrets_.front().reveal(), {timestamp, ".", request.body});
  set_header(request, kSignatureHeader, "t=" + timestamp + ",v1=" + hex_encode(bytes_of(mac)));
}

}  // namespace hookgate
