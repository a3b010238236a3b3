#include "providers/idempotency_key.h"

#include <algorithm>
#include <set>
#include <string>

#include "crypto/constant_time.h"
#include "crypto/digest.h"
#include "domain/text.h"
#include "providers/provider_support.h"

namespace hookgate {
namespace {

constexpr std::string_view kAuthorization = "Authorization";
constexpr std::string_view kScheme = "Bearer ";
constexpr std::string_view kKeyHeader = "Idempotency-Key";
constexpr std::string_view kEventType = "request";

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

std::optional<Rejected> judge_key(const InboundRequest& head) {
  const auto key = strip_blanks(head.header(kKeyHeader).value_or(""));
  if (key.empty()) return Rejected{RejectReason::kKeyMissing, "no header Idempotency-Key"};
  if (head.header_count(kKeyHeader) > 1)
    return Rejected{RejectReason::kKeyMalformed, "several headers Idempotency-Key"};
  if (key.size() > kEventIdBytesMax)
    return Rejected{RejectReason::kKeyMalformed, "the key has more than 255 bytes"};
  if (has_control_character(key) || !is_valid_utf8(key))
    return Rejected{RejectReason::kKeyMalformed, "the key holds control characters or no UTF-8"};
  return std::nullopt;
}

void require_token(const Secret& key, int index) {
  if (key.empty()) throw InvalidProviderSettings(index, "the key is empty");
  const bool is_token =
      std::ranges::all_of(key.reveal(), [](unsigned char c) { return c > 0x20 && c < 0x7F; });
  if (!is_token)
    throw InvalidProviderSettings(index, "the key holds white space or what no header can carry");
}

}  // namespace

IdempotencyKey::IdempotencyKey(const ProviderSettings& settings) : clients_(settings.clients) {
  if (clients_.empty()) throw InvalidProviderSettings(-1, "there is no client");
  std::set<std::string> names;
  std::set<std::string> keys;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const auto index = static_cast<int>(i);
    require_token(clients_[i].key, index);
    if (!names.insert(clients_[i].name).second)
      throw InvalidProviderSettings(index, "two clients have one name");
    if (!keys.insert(clients_[i].key.reveal()).second)
      throw InvalidProviderSettings(index, "two clients have one key");
  }
}

// All keys are compared, so that the time tells nothing of which came close.
std::optional<std::size_t> IdempotencyKey::client_of(const InboundRequest& head) const {
  const auto header = strip_blanks(head.header(kAuthorization).value_or(""));
  if (head.header_count(kAuthorization) != 1) return std::nullopt;
  if (!equal_ignoring_case(header.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  const auto token = strip_blanks(header.substr(kScheme.size()));
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < clients_.size(); ++i)
    if (equal_in_constant_time(token, clients_[i].key.reveal())) found = i;
  return found;
}

std::optional<Rejected> IdempotencyKey::refuse_by_head(const InboundRequest& head,
                                                       SystemTime /*now*/) const {
  if (head.header_count(kAuthorization) == 0)
    return Rejected{RejectReason::kCredentialsMissing, "no header Authorization"};
  if (!client_of(head))
    return Rejected{RejectReason::kCredentialsMismatch, "the bearer token is no client's"};
  return judge_key(head);
}

Verdict IdempotencyKey::verify(const InboundRequest& request, SystemTime now) const {
  if (auto rejected = refuse_by_head(request, now)) return *std::move(rejected);
  const auto parsed = parse_json(request.body);
  if (const auto* const error = std::get_if<JsonError>(&parsed))
    return Rejected{RejectReason::kBodyUnreadable, "the body is not JSON: " + error->message};
  return Verified{*client_of(request)};
}

std::vector<NewEvent> IdempotencyKey::events(const InboundRequest& request) const {
  const auto parsed = parse_json(request.body);
  NewEvent event;
  event.scope = clients_[client_of(request).value()].name;
  event.event_id = strip_blanks(request.header(kKeyHeader).value());
  event.event_type = kEventType;
  event.content = sha256(join_with_lengths(
      {request.method, request.path(), canonical_json(std::get<JsonDocument>(parsed).root)}));
  event.signed_content = event.content;
  return {std::move(event)};
}

void IdempotencyKey::sign(InboundRequest& request, SystemTime /*now*/) const {
  set_header(request, kAuthorization, std::string{kScheme} + clients_.front().key.reveal());
  if (request.header_count(kKeyHeader) == 0)
    set_header(request, kKeyHeader, hashed_id(request.body));
}

}  // namespace hookgate
