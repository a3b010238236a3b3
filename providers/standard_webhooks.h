#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/provider.h"

namespace hookgate {

// Standard Webhooks, and Svix, which has other header names. Signed is "<id>.<timestamp>.<raw
// body>" of the headers webhook-id and webhook-timestamp; webhook-signature lists
// "<version>,<base64>" parted by blanks: v1 is HMAC-SHA256, v1a Ed25519; other versions and broken
// elements are skipped, and one match is enough. The id is signed and the same on every attempt:
// safe to deduplicate on.
//
// Secrets: `whsec_` (or nothing) and base64 of an HMAC key; `whpk_` and base64 of an Ed25519 public
// key. The version picks the algorithm, so neither stands in for the other.
//
// Decisions: svix-* headers are read when the request has none of webhook-*; an id with a dot,
// control characters or more than 255 bytes is kSignatureMalformed, since a dot lets the end of the
// id be taken for a time; a time is plain digits, judged before the signature; an HMAC key may be
// shorter than the advised 24 bytes (the sender chose it), but not empty; an empty body is
// authentic. Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md,
// b2fa7b8.
//
// Settings used: secrets, tolerance.
class StandardWebhooks final : public Provider {
 public:
  explicit StandardWebhooks(const ProviderSettings& settings);  // throws InvalidProviderSettings

  std::string_view name() const override { return "standard-webhooks"; }
  Verdict verify(const InboundRequest& request, SystemTime now) const override;
  std::optional<Rejected> refuse_by_head(const InboundRequest& head, SystemTime now) const override;
  // One event, keyed by webhook-id even if its body is not JSON.
  std::vector<NewEvent> events(const InboundRequest& request) const override;
  // Keeps the request's id, or invents one from the body. Signs with the first symmetric secret: a
  // public key cannot sign, and with public keys alone this throws std::logic_error.
  void sign(InboundRequest& request, SystemTime now) const override;
  // Senders retry for some days and keep messages for a month to replay.
  std::chrono::hours redelivery_horizon() const override { return std::chrono::days{35}; }

 private:
  enum class KeyKind { kSymmetric, kPublic };
  struct Key {
    KeyKind kind;
    std::string bytes;
  };
  static Key decode_key(const Secret& secret, int index);

  std::vector<Key> keys_;
  std::chrono::seconds tolerance_;
};

}  // namespace hookgate
