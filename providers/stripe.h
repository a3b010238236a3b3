#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/provider.h"

namespace hookgate {

// Stripe, snapshot and thin events. Header `Stripe-Signature: t=<unix seconds>,v1=<hex>,...`:
// HMAC-SHA256 over "<t>.<raw body>", keyed with the whole text of the secret, `whsec_` included
// (Standard Webhooks decodes the same prefix away; one helper for both would break one of them).
// The event's id is inside the signed body: safe to deduplicate on.
//
// Decisions where Stripe's own libraries differ: one header line of at most 4096 bytes and 16
// elements; blanks around elements are fine, elements without "=" and of unknown schemes (the
// meaningless v0 too) are skipped; `t` comes once, as plain digits; a v1 is 64 hex digits of either
// case (its bytes are compared, so case adds nothing an attacker could use); the time is bounded on
// both sides and judged before the signature; an empty body is refused even if signed.
// Source: docs.stripe.com/webhooks/signature; stripe-node 23.1.0 and its sisters, run side by side.
//
// Settings used: secrets, tolerance.
class Stripe final : public Provider {
 public:
  explicit Stripe(const ProviderSettings& settings);  // throws InvalidProviderSettings

  std::string_view name() const override { return "stripe"; }
  Verdict verify(const InboundRequest& request, SystemTime now) const override;
  std::optional<Rejected> refuse_by_head(const InboundRequest& head, SystemTime now) const override;
  // Events differ between deliveries in `pending_webhooks` only, which is left out of `content`.
  std::vector<NewEvent> events(const InboundRequest& request) const override;
  void sign(InboundRequest& request, SystemTime now) const override;
  // Events can be sent again by hand for 30 days.
  std::chrono::hours redelivery_horizon() const override { return std::chrono::days{35}; }

 private:
  std::vector<Secret> secrets_;
  std::chrono::seconds tolerance_;
};

}  // namespace hookgate
