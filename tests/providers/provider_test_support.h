#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "domain/provider.h"
#include "domain/time.h"
#include "domain/verdict.h"

namespace hookgate {

// 2026-01-01T00:00:00Z, the "now" of these tests.
inline constexpr SystemTime kNow{std::chrono::seconds{1'767'225'600}};

// How GoogleTest prints one.
inline void PrintTo(RejectReason reason, std::ostream* out) {
  *out << reason_code(reason);
}

inline InboundRequest a_request(std::string body, std::vector<Header> headers = {}) {
  InboundRequest request;
  request.method = "POST";
  request.target = "/webhooks/test";
  request.headers = std::move(headers);
  request.body = std::move(body);
  request.received_at = kNow;
  return request;
}

// The request as it is before its body was read.
inline InboundRequest head_of(InboundRequest request) {
  request.body.clear();
  return request;
}

inline ProviderSettings with_secrets(const std::vector<std::string>& secrets) {
  ProviderSettings settings;
  for (const auto& secret : secrets) settings.secrets.emplace_back(secret);
  return settings;
}

// Why the request was refused; nothing if it was accepted.
inline std::optional<RejectReason> reason_of(const Verdict& verdict) {
  const auto* rejected = std::get_if<Rejected>(&verdict);
  if (rejected == nullptr) return std::nullopt;
  return rejected->reason;
}

inline std::optional<RejectReason> reason_of(const std::optional<Rejected>& rejected) {
  if (!rejected) return std::nullopt;
  return rejected->reason;
}

inline std::string detail_of(const Verdict& verdict) {
  const auto* rejected = std::get_if<Rejected>(&verdict);
  return rejected == nullptr ? "accepted" : rejected->detail;
}

// Index of the secret that matched; nothing if the request was refused.
inline std::optional<std::size_t> secret_of(const Verdict& verdict) {
  const auto* verified = std::get_if<Verified>(&verdict);
  if (verified == nullptr) return std::nullopt;
  return verified->secret_index;
}

inline bool is_accepted(const Verdict& verdict) {
  return std::holds_alternative<Verified>(verdict);
}

// Index of the secret the settings are refused for; nothing if a provider was made of them.
template <typename Made>
std::optional<int> refused_secret(const ProviderSettings& settings) {
  try {
    Made made{settings};
  } catch (const InvalidProviderSettings& invalid) {
    return invalid.secret_index;
  }
  return std::nullopt;
}

// Whether `verify` refuses the request for the very reason its head was refused for; true where the
// head was not.
inline bool agrees_with_its_head(const Provider& provider, const InboundRequest& request,
                                 SystemTime now) {
  const auto by_head = provider.refuse_by_head(head_of(request), now);
  if (!by_head) return true;
  const auto verdict = provider.verify(request, now);
  return reason_of(verdict) == by_head->reason && detail_of(verdict) == by_head->detail;
}

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

}  // namespace hookgate
