#include "cli/verify_explain.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "cli/body_variants.h"
#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/hmac.h"
#include "providers/adyen_item.h"
#include "providers/registry.h"

namespace hookgate {
namespace {

constexpr std::string_view kStripe = "stripe";
constexpr std::string_view kAdyen = "adyen";
constexpr std::string_view kPrefix = "whsec_";
constexpr std::string_view kStripeHeader = "Stripe-Signature";
constexpr std::string_view kAdyenHeader = "HmacSignature";
constexpr std::size_t kHexCharacters = 64;     // of a SHA-256
constexpr std::size_t kBase64Characters = 43;  // of a SHA-256, before the one '='

using Cause = std::optional<std::string>;

struct Case {
  const InboundRequest& request;
  SystemTime now;
  const VerifySource& source;
  const std::vector<VerifySource>& others;
};

// Whether such a provider finds the signature right, whatever its age, which it would tell first.
bool signs(std::string_view provider, ProviderSettings settings, const InboundRequest& request,
           SystemTime now) {
  settings.tolerance = std::chrono::hours{24} * 36'500;
  try {
    const auto made = make_provider(provider, settings);
    if (!made) return false;
    return std::holds_alternative<Verified>(made->verify(request, now));
  } catch (const InvalidProviderSettings&) {
    return false;
  }
}

bool signs_altered(const Case& given, const InboundRequest& request) {
  return signs(given.source.provider_name, given.source.settings, request, given.now);
}

// ---- Another source ----

Cause another_source(const Case& given) {
  for (const auto& other : given.others) {
    if (!signs(other.provider_name, other.settings, given.request, given.now)) continue;
    return "The signature is right for the source '" + other.name + "' (" + other.provider_name +
           "). Either the sender posts to the wrong path, or the secrets of the two are swapped.";
  }
  return std::nullopt;
}

Cause another_scheme(const Case& given) {
  if (given.source.provider_name != kAdyen) return std::nullopt;
  auto settings = given.source.settings;
  settings.scheme = settings.scheme == "item" ? "header" : "item";
  if (!signs(kAdyen, settings, given.request, given.now)) return std::nullopt;
  return "The signature is right for the other kind of Adyen webhook: set scheme = \"" +
         settings.scheme + "\" for the source '" + given.source.name + "'.";
}

// ---- The signature's form ----

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Replaces each longest run of base64's characters by what `convert` makes of it, if anything. It
// is given the text from the run on, and the run's length.
template <typename Convert>
std::string convert_runs(std::string_view text, Convert convert) {
  std::string out;
  while (!text.empty()) {
    const auto is_part = [](char c) { return is_letter_or_digit(c) || c == '+' || c == '/'; };
    const auto end = std::ranges::find_if_not(text, is_part);
    const auto length = static_cast<std::size_t>(end - text.begin());
    std::size_t used = std::max<std::size_t>(length, 1);
    if (const std::optional<std::pair<std::string, std::size_t>> made = convert(text, length)) {
      out += made->first;
      used = made->second;
    } else {
      out += text.substr(0, used);
    }
    text.remove_prefix(used);
  }
  return out;
}

using Converted = std::optional<std::pair<std::string, std::size_t>>;

std::string hex_to_base64(std::string_view text) {
  return convert_runs(text, [](std::string_view rest, std::size_t length) -> Converted {
    if (length != kHexCharacters) return std::nullopt;
    const auto bytes = hex_decode(rest.substr(0, length));
    if (!bytes) return std::nullopt;
    return std::pair{base64_encode(*bytes), length};
  });
}

std::string base64_to_hex(std::string_view text) {
  return convert_runs(text, [](std::string_view rest, std::size_t length) -> Converted {
    if (length != kBase64Characters || !rest.substr(length).starts_with('=')) return std::nullopt;
    const auto bytes = base64_decode(rest.substr(0, length + 1));
    if (!bytes) return std::nullopt;
    return std::pair{hex_encode(*bytes), length + 1};
  });
}

Cause another_encoding(const Case& given) {
  auto in_base64 = given.request;
  auto in_hex = given.request;
  for (auto& header : in_base64.headers) header.value = hex_to_base64(header.value);
  for (auto& header : in_hex.headers) header.value = base64_to_hex(header.value);
  if (given.source.provider_name == kAdyen) in_base64.body = hex_to_base64(given.request.body);
  if (signs_altered(given, in_base64)) {
    return "The signature is right but written in hex; " + given.source.provider_name +
           " writes it in base64. Whatever signed this request encodes it wrongly.";
  }
  if (signs_altered(given, in_hex)) {
    return "The signature is right but written in base64; " + given.source.provider_name +
           " writes it in hex. Whatever signed this request encodes it wrongly.";
  }
  return std::nullopt;
}

// ---- The secret's form ----

std::string_view without_prefix(std::string_view secret) {
  if (secret.starts_with(kPrefix)) secret.remove_prefix(kPrefix.size());
  return secret;
}

// The value of `name=value` among the elements of a header parted by commas.
std::string_view element(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const auto comma = std::min(header.find(','), header.size());
    const auto part = header.substr(0, comma);
    if (part.starts_with(name) && part.substr(name.size()).starts_with('=')) {
      return part.substr(name.size() + 1);
    }
    header.remove_prefix(std::min(comma + 1, header.size()));
  }
  return {};
}

// Made by hand, since a provider refuses keys of this form.
bool stripe_signed_with_key(std::string_view key, const InboundRequest& request) {
  const auto header = request.header(kStripeHeader).value_or("");
  const auto mac = hmac_sha256(key, {element(header, "t"), ".", request.body});
  return header.find("v1=" + hex_encode(bytes_of(mac))) != std::string_view::npos;
}

bool adyen_signed_with_key(std::string_view key, const ProviderSettings& settings,
                           const InboundRequest& request) {
  if (settings.scheme == "header") {
    return request.header(kAdyenHeader) ==
           base64_encode(bytes_of(hmac_sha256(key, {request.body})));
  }
  const auto read = read_adyen_batch(request.body);
  const auto* batch = std::get_if<AdyenBatch>(&read);
  return batch != nullptr && std::ranges::all_of(batch->items, [&](const AdyenItem& item) {
           return item.signature ==
                  base64_encode(bytes_of(hmac_sha256(key, {adyen_signed_text(item)})));
         });
}

Cause stripe_key_mix_up(const Case& given, std::string_view secret) {
  const auto decoded = base64_decode(without_prefix(secret));
  if (!decoded || decoded->empty() || !stripe_signed_with_key(*decoded, given.request)) {
    return std::nullopt;
  }
  return "It was signed with the secret decoded from base64, as Standard Webhooks does. Stripe "
         "uses "
         "the whole text as the key, 'whsec_' included.";
}

Cause adyen_key_mix_up(const Case& given, std::string_view secret) {
  std::string lower{secret};
  std::string upper{secret};
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  for (const auto& text : {lower, upper}) {
    if (!adyen_signed_with_key(text, given.source.settings, given.request)) continue;
    return "It was signed with the text of the HMAC key. The key is 64 hex digits that stand for "
           "32 "
           "bytes; whatever signed this request did not decode them.";
  }
  return std::nullopt;
}

Cause text_mix_up(const Case& given, std::string_view secret) {
  const std::string bare{without_prefix(secret)};
  const std::pair<std::string, std::string_view> altered[] = {
      {bare, "It was signed with the secret without its prefix 'whsec_'."},
      {std::string{kPrefix} + bare,
       "It was signed with the prefix 'whsec_' before the secret: the configured one lacks it."},
      {std::string{kPrefix} + base64_encode(secret),
       "It was signed with the text of the secret, 'whsec_' included. The key is what follows the "
       "prefix, decoded from base64."},
      {std::string{kPrefix} + base64_encode(bare),
       "It was signed with the text after 'whsec_'. The key is that text decoded from base64."},
  };
  for (const auto& [text, cause] : altered) {
    auto settings = given.source.settings;
    settings.secrets = {Secret{text}};
    if (text != secret && signs(given.source.provider_name, settings, given.request, given.now)) {
      return std::string{cause};
    }
  }
  return std::nullopt;
}

Cause another_form_of_the_secret(const Case& given) {
  for (const auto& secret : given.source.settings.secrets) {
    if (secret.empty()) continue;
    Cause cause = text_mix_up(given, secret.reveal());
    if (!cause && given.source.provider_name == kStripe) {
      cause = stripe_key_mix_up(given, secret.reveal());
    }
    if (!cause && given.source.provider_name == kAdyen) {
      cause = adyen_key_mix_up(given, secret.reveal());
    }
    if (cause) return cause;
  }
  return std::nullopt;
}

// ---- The body ----

Cause altered_body(const Case& given) {
  auto request = given.request;
  for (auto& variant : body_variants(given.request.body)) {
    request.body = std::move(variant.body);
    if (!signs_altered(given, request)) continue;
    return "The secret is right, but the body was changed after it was signed: " + variant.change +
           ". Keep the raw bytes on the way and in the capture.";
  }
  return std::nullopt;
}

// ---- What is left ----

Cause foreign_signature(const Case& given) {
  constexpr std::pair<std::string_view, std::string_view> kHeaders[] = {
      {kStripeHeader, kStripe},
      {"webhook-signature", "standard-webhooks"},
      {"svix-signature", "standard-webhooks"},
      {kAdyenHeader, kAdyen},
  };
  for (const auto& [header, provider] : kHeaders) {
    if (!given.request.header(header) || provider == given.source.provider_name) continue;
    return "It has the header " + std::string{header} + ", so it comes from " +
           std::string{provider} + ", but the source '" + given.source.name + "' is of " +
           given.source.provider_name + ": the sender posts to the wrong path.";
  }
  return std::nullopt;
}

std::string unexplained(const Case& given, RejectReason reason) {
  switch (reason) {
    case RejectReason::kSignatureMissing:
      return "Nobody signed this request, or something on its way took the signature off.";
    case RejectReason::kSignatureMalformed:
      return "The signature was cut or edited on its way, or made by something other than " +
             given.source.provider_name + ".";
    case RejectReason::kBodyUnreadable:
      return "The body is not what " + given.source.provider_name +
             " sends: cut, edited or foreign.";
    default: break;
  }
  const auto count = given.source.settings.secrets.size();
  return "None of the usual mistakes explains it. Most likely the " +
         std::string{count == 1 ? "secret belongs" : "secrets belong"} +
         " to another endpoint or " + (count == 1 ? "was" : "were") +
         " rotated; else the body was edited.";
}

// Digits of the time that was signed, "" if the request has none.
std::string_view signed_time(const InboundRequest& request) {
  const auto in_stripe = element(request.header(kStripeHeader).value_or(""), "t");
  if (!in_stripe.empty()) return in_stripe;
  for (const auto* name : {"webhook-timestamp", "svix-timestamp"}) {
    if (const auto value = request.header(name)) return *value;
  }
  return {};
}

std::string clock_cause(const Case& given, const Rejected& rejected) {
  const auto tolerance = std::to_string(given.source.settings.tolerance.count());
  std::string text = "The signature is right, but it was " + rejected.detail + ", and " +
                     tolerance + " s are allowed. ";
  if (rejected.reason == RejectReason::kTimestampInFuture) {
    return text + "The clock here is slow or the sender's is fast.";
  }
  return text + "An old capture is judged as of its own time with --at " +
         std::string{signed_time(given.request)} +
         "; for a fresh one, the clock here is fast or the sender's is slow.";
}

std::string signature_cause(const Case& given, RejectReason reason) {
  constexpr Cause (*kGuesses[])(const Case&) = {
      another_source, another_scheme,    another_encoding, another_form_of_the_secret,
      altered_body,   foreign_signature,
  };
  for (const auto guess : kGuesses) {
    if (auto cause = guess(given)) return *std::move(cause);
  }
  return unexplained(given, reason);
}

// The age is judged before the signature, so the signature may be wrong too, and then that is the
// likelier cause.
std::string age_cause(const Case& given, const Rejected& rejected) {
  const auto sent_at = parse_unix_seconds(signed_time(given.request));
  if (!sent_at) return clock_cause(given, rejected);
  const auto verdict = given.source.provider->verify(given.request, *sent_at);
  if (std::holds_alternative<Verified>(verdict)) return clock_cause(given, rejected);
  return signature_cause({given.request, *sent_at, given.source, given.others},
                         RejectReason::kSignatureMismatch);
}

std::string likeliest_cause(const Case& given, const Rejected& rejected) {
  switch (rejected.reason) {
    case RejectReason::kTimestampTooOld:
    case RejectReason::kTimestampInFuture: return age_cause(given, rejected);
    case RejectReason::kTimestampMalformed:
      return "The time beside the signature was edited, or this is not a request of " +
             given.source.provider_name + ".";
    case RejectReason::kCredentialsMissing:
      return "The sender was not given the user and password of basic_auth, or something on its "
             "way "
             "took the header Authorization off.";
    case RejectReason::kCredentialsMismatch:
      return "The sender has another user or password than basic_auth of the source '" +
             given.source.name + "'.";
    default: return signature_cause(given, rejected.reason);
  }
}

}  // namespace

VerifyReport explain_verdict(const InboundRequest& request, SystemTime now,
                             const VerifySource& source, const std::vector<VerifySource>& others) {
  VerifyReport report;
  const auto verdict = source.provider->verify(request, now);
  if (const auto* verified = std::get_if<Verified>(&verdict)) {
    report.accepted = true;
    report.secret_index = verified->secret_index;
    return report;
  }
  const auto& rejected = std::get<Rejected>(verdict);
  report.failed_check = reason_code(rejected.reason);
  report.detail = rejected.detail;
  report.likeliest_cause = likeliest_cause({request, now, source, others}, rejected);
  return report;
}

}  // namespace hookgate
