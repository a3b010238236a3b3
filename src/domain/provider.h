#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/event.h"
#include "domain/http_message.h"
#include "domain/secret.h"
#include "domain/verdict.h"

namespace hookgate {

// A sender of webhooks: how its requests are judged and what events they hold.
//
// Implementations are pure and immutable: the clock is an argument, nothing is logged or stored,
// and every method may be called from any thread at once. JSON is parsed only after the signature
// holds, but for senders whose signature is inside the body.
class Provider {
 public:
  virtual ~Provider() = default;

  // "stripe", "adyen", ... as written in the configuration.
  virtual std::string_view name() const = 0;

  // Whether one of our secrets signed the raw bytes, at a time within the tolerance of `now`.
  virtual Verdict verify(const InboundRequest& request, SystemTime now) const = 0;

  // Why `verify` would refuse this request whatever its body, judged by its headers alone: `head`
  // is the request before its body was read. Nothing when only the body can tell. A sender without
  // credentials thus costs no reading and no HMAC.
  virtual std::optional<Rejected> refuse_by_head(const InboundRequest& /*head*/,
                                                 SystemTime /*now*/) const {
    return std::nullopt;
  }

  // The events of a request that `verify` accepted; at least one. A body that cannot be used gives
  // one event with `unusable` set, keyed by the SHA-256 of the body.
  virtual std::vector<NewEvent> events(const InboundRequest& request) const = 0;

  // The success body the sender insists on; "" for our own JSON.
  virtual std::string_view success_body() const { return ""; }

  // What a sender without the right credentials is told to bring: the scheme of WWW-Authenticate.
  virtual std::string_view challenge() const { return "Basic realm=\"webhooks\""; }

  // Whether its requests carry a key of the client's choice: other content under a key is the
  // client's mistake then and refused, not a conflict to be looked at.
  virtual bool has_client_keys() const { return false; }

  // Puts a fresh signature over `request.body` on the request, as the sender would with the first
  // secret, replacing what is there. Used by replay, sign, bench and tests.
  virtual void sign(InboundRequest& request, SystemTime now) const = 0;

  // Longest time after the first delivery at which the same event can come again, with a margin:
  // keys must be kept at least as long. Source: the sender's retry and resend windows.
  virtual std::chrono::hours redelivery_horizon() const = 0;
};

// A client of our own, for `idempotency-key` sources.
struct ApiClient {
  std::string name;  // the scope of its keys
  Secret key;        // its bearer token
};

// What a provider is made from. Which fields a provider takes is said in its header.
struct ProviderSettings {
  std::vector<Secret> secrets;
  std::chrono::seconds tolerance{300};
  std::string scheme = "item";     // Adyen: "item" or "header"
  std::vector<ApiClient> clients;  // idempotency-key
};

// The settings cannot make a safe verifier: an empty or undecodable secret, for one.
// `secret_index` is -1 when the fault is not one secret's. The text never holds the secret.
struct InvalidProviderSettings : std::exception {
  InvalidProviderSettings(int index, std::string text)
      : secret_index(index), message(std::move(text)) {}
  const char* what() const noexcept override { return message.c_str(); }
  int secret_index;
  std::string message;
};

}  // namespace hookgate
