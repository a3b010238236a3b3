#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/provider.h"

namespace hookgate {

// Adyen has two signature schemes. The endpoint's configuration picks one, never the request.
// Both: keys are 64 hex digits, used as 32 bytes; HMAC-SHA256; base64, strictly (44 characters of
// the standard alphabet, padded); no time is signed, so deduplication is the only protection
// against a replay, and `tolerance` is not used. The sender wants "[accepted]" for an answer.
// Throws InvalidProviderSettings; the scheme is "item" or "header".
// Settings used: secrets, scheme.
std::unique_ptr<Provider> make_adyen(const ProviderSettings& settings);

// Payments webhooks. Each item of the body carries `additionalData.hmacSignature` over eight of its
// fields (adyen_item.h). pspReference, eventCode and success, of which the event's id is made, are
// signed; live and eventDate are NOT, nor reason, paymentMethod and additionalData: set basic_auth
// where those matter. One item with a wrong signature refuses the request, since one answer stands
// for the whole batch.
// Source: docs.adyen.com/development-resources/webhooks/verify-hmac-signatures; @adyen/api-library
// 32.1.0 and its sisters, run side by side.
class AdyenItems final : public Provider {
 public:
  explicit AdyenItems(const ProviderSettings& settings);

  std::string_view name() const override { return "adyen"; }
  // Items may be signed with different keys while these rotate; the verdict names the first one's.
  Verdict verify(const InboundRequest& request, SystemTime now) const override;
  std::vector<NewEvent> events(const InboundRequest& request) const override;
  std::string_view success_body() const override { return "[accepted]"; }
  // Rewrites the body, where the signatures are. One that cannot be read is left as it is.
  void sign(InboundRequest& request, SystemTime now) const override;
  // 30 days in Adyen's retry queue, about as long by hand.
  std::chrono::hours redelivery_horizon() const override { return std::chrono::days{40}; }

 private:
  std::vector<std::string> keys_;
};

// Platform, management, tokenization and other webhooks, and payments bodies so configured. Header
// `HmacSignature` over the raw body, so everything is signed. An event's id is `eventId` where
// there is one; else a hash of its type, its object's id and its time or sequence number; without
// these, of the body. Source: as above;
// docs.adyen.com/development-resources/webhooks/verify-hmac-signatures.
class AdyenHeader final : public Provider {
 public:
  explicit AdyenHeader(const ProviderSettings& settings);

  std::string_view name() const override { return "adyen"; }
  Verdict verify(const InboundRequest& request, SystemTime now) const override;
  std::optional<Rejected> refuse_by_head(const InboundRequest& head, SystemTime now) const override;
  std::vector<NewEvent> events(const InboundRequest& request) const override;
  std::string_view success_body() const override { return "[accepted]"; }
  void sign(InboundRequest& request, SystemTime now) const override;
  std::chrono::hours redelivery_horizon() const override { return std::chrono::days{40}; }

 private:
  std::vector<std::string> keys_;
};

}  // namespace hookgate
