#include "providers/adyen.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "crypto/constant_time.h"
#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/hmac.h"
#include "providers/adyen_item.h"
#include "providers/adyen_platform.h"
#include "providers/provider_support.h"

namespace hookgate {
namespace {

constexpr std::string_view kSignatureHeader = "HmacSignature";
constexpr std::string_view kProtocolHeader = "Protocol";
constexpr std::string_view kProtocol = "HmacSHA256";
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 32;

std::vector<std::string> decode_keys(const std::vector<Secret>& secrets) {
  require_secrets(secrets);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    auto key = hex_decode(secrets[i].reveal());
    if (!key || key->size() != kKeyBytes) {
      throw InvalidProviderSettings(static_cast<int>(i), "the HMAC key is not 64 hex digits");
    }
    keys.push_back(*std::move(key));
  }
  return keys;
}

std::variant<std::string, Rejected> decode_signature(std::string_view base64) {
  auto signature = base64_decode(base64);
  if (!signature || signature->size() != kSignatureBytes) {
    return Rejected{RejectReason::kSignatureMalformed, "the signature is not base64 of 32 bytes"};
  }
  return *std::move(signature);
}

// Which key signed `text`, or that none did.
Verdict find_key(const std::vector<std::string>& keys, std::string_view text,
                 std::string_view signature) {
  const auto key = std::ranges::find_if(keys, [&](const std::string& candidate) {
    return equal_in_constant_time(signature, bytes_of(hmac_sha256(candidate, {text})));
  });
  if (key == keys.end()) {
    return Rejected{RejectReason::kSignatureMismatch, "the signature matches no configured key"};
  }
  return Verified{static_cast<std::size_t>(key - keys.begin())};
}

Verdict judge_item(const std::vector<std::string>& keys, const AdyenItem& item) {
  if (!item.signature) return Rejected{RejectReason::kSignatureMissing, "no hmacSignature"};
  const auto signature = decode_signature(*item.signature);
  if (const auto* rejected = std::get_if<Rejected>(&signature)) return *rejected;
  return find_key(keys, adyen_signed_text(item), std::get<std::string>(signature));
}

// The signature in the header, decoded: what the head alone can tell of the header scheme.
std::variant<std::string, Rejected> judge_head(const InboundRequest& head) {
  const auto header = single_header(head, kSignatureHeader);
  if (const auto* rejected = std::get_if<Rejected>(&header)) return *rejected;
  return decode_signature(std::get<std::string_view>(header));
}

std::string signature_of(std::string_view key, std::string_view text) {
  return base64_encode(bytes_of(hmac_sha256(key, {text})));
}

}  // namespace

std::unique_ptr<Provider> make_adyen(const ProviderSettings& settings) {
  if (settings.scheme == "item") return std::make_unique<AdyenItems>(settings);
  if (settings.scheme == "header") return std::make_unique<AdyenHeader>(settings);
  throw InvalidProviderSettings(-1, "the scheme is neither \"item\" nor \"header\"");
}

AdyenItems::AdyenItems(const ProviderSettings& settings) : keys_(decode_keys(settings.secrets)) {}

Verdict AdyenItems::verify(const InboundRequest& request, SystemTime) const {
  const auto read = read_adyen_batch(request.body);
  if (const auto* unreadable = std::get_if<AdyenUnreadable>(&read)) {
    return Rejected{RejectReason::kBodyUnreadable, unreadable->problem};
  }
  const auto& items = std::get<AdyenBatch>(read).items;
  std::optional<Verdict> first;
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto verdict = judge_item(keys_, items[i]);
    if (auto* rejected = std::get_if<Rejected>(&verdict)) {
      rejected->detail = "item " + std::to_string(i) + ": " + rejected->detail;
      return verdict;
    }
    if (!first) first = std::move(verdict);
  }
  return *first;
}

std::vector<NewEvent> AdyenItems::events(const InboundRequest& request) const {
  const auto read = read_adyen_batch(request.body);
  if (const auto* unreadable = std::get_if<AdyenUnreadable>(&read)) {
    return {unusable_event(request.body, unreadable->problem)};
  }
  return adyen_events(std::get<AdyenBatch>(read));
}

void AdyenItems::sign(InboundRequest& request, SystemTime) const {
  const auto read = read_adyen_batch(request.body);
  const auto* batch = std::get_if<AdyenBatch>(&read);
  if (batch == nullptr) return;
  std::vector<std::string> signatures;
  for (const auto& item : batch->items) {
    signatures.push_back(signature_of(keys_.front(), adyen_signed_text(item)));
  }
  request.body = with_adyen_signatures(*batch, signatures);
}

AdyenHeader::AdyenHeader(const ProviderSettings& settings) : keys_(decode_keys(settings.secrets)) {}

Verdict AdyenHeader::verify(const InboundRequest& request, SystemTime) const {
  const auto signature = judge_head(request);
  if (const auto* rejected = std::get_if<Rejected>(&signature)) return *rejected;
  auto verdict = find_key(keys_, request.body, std::get<std::string>(signature));
  if (std::holds_alternative<Verified>(verdict) && request.body.empty()) {
    return Rejected{RejectReason::kBodyUnreadable, "the body is empty"};
  }
  return verdict;
}

std::optional<Rejected> AdyenHeader::refuse_by_head(const InboundRequest& head, SystemTime) const {
  return rejection_in(judge_head(head));
}

std::vector<NewEvent> AdyenHeader::events(const InboundRequest& request) const {
  return adyen_header_events(request.body);
}

void AdyenHeader::sign(InboundRequest& request, SystemTime) const {
  set_header(request, kProtocolHeader, std::string{kProtocol});
  set_header(request, kSignatureHeader, signature_of(keys_.front(), request.body));
}

}  // namespace hookgate
