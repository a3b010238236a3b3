#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "domain/provider.h"
#include "event_checks.h"
#include "fuzz_target.h"
#include "providers/basic_auth.h"
#include "providers/registry.h"

// A request with any headers and body, judged by the sender that the first byte picks, at a time
// that the second picks. Input: those two bytes, lines "Name: value", an empty line, the body.

namespace hookgate {
namespace {

constexpr SystemTime kSignedAt{std::chrono::seconds{1'767'225'600}};
constexpr std::size_t kHeadersMax = 100;

struct Sender {
  std::unique_ptr<Provider> provider;
  std::unique_ptr<Provider> stranger;  // the same with other secrets
  bool signs_raw_body = false;         // in a header
  bool has_time = false;
};

std::unique_ptr<Provider> made(std::string_view name, const std::vector<std::string>& secrets,
                               const std::string& scheme = "item") {
  ProviderSettings settings;
  for (const auto& secret : secrets) settings.secrets.emplace_back(secret);
  settings.scheme = scheme;
  return make_provider(name, settings);
}

std::unique_ptr<Provider> guarded(std::unique_ptr<Provider> provider) {
  return with_basic_auth(std::move(provider), Secret{"user"}, Secret{"invented:password"});
}

// All secrets are invented.
std::array<Sender, 6> make_senders() {
  const std::string key(64, 'A');
  const std::string other_key(64, 'B');
  const std::string symmetric = "whsec_aW52ZW50ZWQtZm9yLXRoZS1mdXp6ZXI=";
  const std::string other_symmetric = "whsec_YW5vdGhlci1pbnZlbnRlZC1zZWNyZXQ=";
  const std::string public_key = "whpk_hSHCy29WyLQDCm9KXOvx59mkzfYBWUcRj7AiqOW48q0=";
  const auto stripe = [] { return made("stripe", {"whsec_invented", "whsec_invented_older"}); };
  const auto other_stripe = [] { return made("stripe", {"whsec_another_invented"}); };
  return {{
      {stripe(), other_stripe(), true, true},
      {made("standard-webhooks", {symmetric, public_key}),
       made("standard-webhooks", {other_symmetric, public_key}), true, true},
      {made("adyen", {key}, "header"), made("adyen", {other_key}, "header"), true, false},
      {made("adyen", {key}), made("adyen", {other_key}), false, false},
      {guarded(stripe()), guarded(other_stripe()), true, true},
      {guarded(made("adyen", {key})), guarded(made("adyen", {other_key})), false, false},
  }};
}

InboundRequest read_request(FuzzChoices& choices) {
  InboundRequest request;
  request.method = "POST";
  request.target = "/webhooks/fuzz";
  while (request.headers.size() < kHeadersMax) {
    const auto line = choices.line();
    if (line.empty()) break;
    const auto colon = std::min(line.find(':'), line.size());
    request.headers.push_back({std::string{line.substr(0, colon)},
                               std::string{line.substr(std::min(colon + 1, line.size()))}});
  }
  request.body = choices.rest();
  return request;
}

bool accepts(const Provider& provider, const InboundRequest& request, SystemTime now) {
  return std::holds_alternative<Verified>(provider.verify(request, now));
}

std::optional<Rejected> refusal(const Provider& provider, const InboundRequest& request,
                                SystemTime now) {
  const auto verdict = provider.verify(request, now);
  const auto* rejected = std::get_if<Rejected>(&verdict);
  return rejected == nullptr ? std::nullopt : std::optional{*rejected};
}

void check_head(const Provider& provider, const InboundRequest& request, SystemTime now) {
  auto head = request;
  head.body.clear();
  const auto by_head = provider.refuse_by_head(head, now);
  if (!by_head) return;
  for (const auto* judged : {&request, &std::as_const(head)}) {
    const auto by_all = refusal(provider, *judged, now);
    require(by_all.has_value(), "what the head is refused for, the request is refused for");
    require(by_all->reason == by_head->reason && by_all->detail == by_head->detail,
            "head and request are refused for one reason");
  }
}

void check_tampering(const Sender& sender, const InboundRequest& genuine, SystemTime now) {
  const auto& provider = *sender.provider;
  if (!sender.signs_raw_body) return;
  auto longer = genuine;
  longer.body += '\n';
  require(!accepts(provider, longer, now), "a longer body is refused");
  auto changed = genuine;
  changed.body.front() ^= 1;
  require(!accepts(provider, changed, now), "a changed body is refused");
}

bool is_signature(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames{"Stripe-Signature", "webhook-signature",
                                                   "svix-signature", "HmacSignature"};
  return std::ranges::any_of(
      kNames, [&](std::string_view known) { return equal_ignoring_case(known, name); });
}

// `genuine` has just been signed, so that its one signature ends its header.
void check_cut(const Sender& sender, const InboundRequest& genuine, SystemTime now) {
  if (!sender.signs_raw_body) return;
  auto cut = genuine;
  for (auto& header : cut.headers) {
    if (is_signature(header.name) && !header.value.empty()) header.value.pop_back();
  }
  require(!accepts(*sender.provider, cut, now), "a signature cut short is refused");
}

void check_age(const Sender& sender, const InboundRequest& genuine, SystemTime now) {
  constexpr std::chrono::seconds kTolerance{300};
  constexpr std::chrono::seconds kSecond{1};
  const auto& provider = *sender.provider;
  require(accepts(provider, genuine, now + kTolerance), "the edge of the window is inside");
  require(accepts(provider, genuine, now - kTolerance), "the edge of the window is inside");
  for (const auto age : {kTolerance + kSecond, -kTolerance - kSecond}) {
    require(accepts(provider, genuine, now + age) == !sender.has_time, "the window has an end");
    check_head(provider, genuine, now + age);
  }
}

// What cannot be signed so that it is accepted: no body, one that is no batch of items, a message
// id that makes the signed text ambiguous.
bool may_refuse_its_own(const InboundRequest& request, const Rejected& rejected) {
  switch (rejected.reason) {
    case RejectReason::kBodyUnreadable: return true;
    case RejectReason::kSignatureMalformed:
      return request.header("webhook-id") || request.header("svix-id");
    default: return false;
  }
}

void check_signing(const Sender& sender, InboundRequest request, SystemTime now) {
  sender.provider->sign(request, now);
  check_head(*sender.provider, request, now);
  if (const auto rejected = refusal(*sender.provider, request, now)) {
    return require(may_refuse_its_own(request, *rejected), "what was signed is accepted");
  }
  require(!accepts(*sender.stranger, request, now), "another secret's signature is refused");
  check_events(sender.provider->events(request));
  check_age(sender, request, now);
  check_cut(sender, request, now);
  if (!request.body.empty()) check_tampering(sender, request, now);
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  static const auto senders = make_senders();
  FuzzChoices choices{bytes};
  const auto& sender = senders[choices.byte() % senders.size()];
  // '@' is the time of the seeds' signatures.
  const auto now = kSignedAt + std::chrono::seconds{5 * (choices.byte() - '@')};
  choices.line();
  const auto request = read_request(choices);
  check_head(*sender.provider, request, now);
  check_head(*sender.stranger, request, now);
  require(!accepts(*sender.stranger, request, now), "nobody knows the stranger's secret");
  if (accepts(*sender.provider, request, now)) {
    check_events(sender.provider->events(request));
    if (!request.body.empty()) check_tampering(sender, request, now);
  }
  check_signing(sender, request, now);
}

}  // namespace hookgate
