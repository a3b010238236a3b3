#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/provider.h"

namespace hookgate {

// Clients of our own, which may send a request again until they know its outcome: a bearer token
// tells the client, the header Idempotency-Key its request. The key is the event's id and the
// client's name its scope, so that two clients cannot meet. What the key stands for is method, path
// and canonical body: the order of members and white space do not matter.
//
// A key is 1 to 255 bytes of valid UTF-8 without control characters, taken as it is, quotes
// included; the body must be JSON. Credentials are judged first: who has none learns nothing else.
// Source: draft-ietf-httpapi-idempotency-key-header, except that a key need not be in quotes.
//
// Settings used: clients.
class IdempotencyKey final : public Provider {
 public:
  // Throws InvalidProviderSettings without clients, for an empty or blank token, a name or token
  // twice.
  explicit IdempotencyKey(const ProviderSettings& settings);

  std::string_view name() const override { return "idempotency-key"; }
  Verdict verify(const InboundRequest& request, SystemTime now) const override;
  std::optional<Rejected> refuse_by_head(const InboundRequest& head, SystemTime now) const override;
  std::vector<NewEvent> events(const InboundRequest& request) const override;
  std::string_view challenge() const override { return "Bearer"; }
  bool has_client_keys() const override { return true; }
  // As the first client; a request without a key gets one made from its body.
  void sign(InboundRequest& request, SystemTime now) const override;
  // How long a client goes on is between it and whoever configures `retain`.
  std::chrono::hours redelivery_horizon() const override { return std::chrono::hours{1}; }

 private:
  std::optional<std::size_t> client_of(const InboundRequest& head) const;

  std::vector<ApiClient> clients_;
};

}  // namespace hookgate
