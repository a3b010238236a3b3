#include "providers/standard_webhooks.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "crypto/constant_time.h"
#include "crypto/digest.h"
#include "crypto/ed25519.h"
#include "crypto/encoding.h"
#include "crypto/hmac.h"
#include "domain/json.h"
#include "domain/text.h"
#include "providers/provider_support.h"

namespace hookgate {
namespace {

struct HeaderNames {
  std::string_view id;
  std::string_view timestamp;
  std::string_view signature;
};
constexpr HeaderNames kStandardNames{"webhook-id", "webhook-timestamp", "webhook-signature"};
constexpr HeaderNames kSvixNames{"svix-id", "svix-timestamp", "svix-signature"};

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::string_view kPublicKeyPrefix = "whpk_";
constexpr std::string_view kPrivateKeyPrefix = "whsk_";
constexpr std::size_t kHmacBytes = 32;

struct Signatures {
  std::vector<std::string> hmacs;    // of v1
  std::vector<std::string> ed25519;  // of v1a
  bool has_known_version = false;    // even if none could be decoded
};

struct SignedHeaders {
  std::string_view id;
  std::string_view timestamp;  // as signed
  SystemTime sent_at;
  Signatures signatures;
};

const HeaderNames& names_in(const InboundRequest& request) {
  for (const auto name : {kStandardNames.id, kStandardNames.timestamp, kStandardNames.signature}) {
    if (request.header_count(name) > 0) return kStandardNames;
  }
  return request.header_count(kSvixNames.id) > 0 ? kSvixNames : kStandardNames;
}

Rejected malformed(std::string detail) {
  return {RejectReason::kSignatureMalformed, std::move(detail)};
}

bool is_signable_id(std::string_view id) {
  return is_usable_id(id) && is_valid_utf8(id) && std::ranges::none_of(id, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return c == '.' || byte < 0x20 || byte == 0x7F;
         });
}

void keep_if_sized(std::vector<std::string>& signatures, std::string_view base64,
                   std::size_t bytes) {
  auto signature = base64_decode(base64);
  if (signature && signature->size() == bytes) signatures.push_back(*std::move(signature));
}

std::variant<Signatures, Rejected> read_signatures(std::string_view list) {
  if (list.size() > kSignatureHeaderBytesMax) return malformed("the signature list is too long");
  Signatures signatures;
  std::size_t elements = 0;
  while (!list.empty()) {
    const auto blank = std::min(list.find(' '), list.size());
    const auto element = list.substr(0, blank);
    list.remove_prefix(std::min(blank + 1, list.size()));
    if (element.empty()) continue;
    if (++elements > kSignatureElementsMax) return malformed("too many signatures");
    const auto comma = element.find(',');
    if (comma == std::string_view::npos) continue;
    const auto version = element.substr(0, comma);
    const auto value = element.substr(comma + 1);
    if (version == "v1") keep_if_sized(signatures.hmacs, value, kHmacBytes);
    if (version == "v1a") keep_if_sized(signatures.ed25519, value, kEd25519SignatureBytes);
    if (version == "v1" || version == "v1a") signatures.has_known_version = true;
  }
  if (!signatures.has_known_version) {
    return Rejected{RejectReason::kSignatureMissing, "no signature of version v1 or v1a"};
  }
  if (signatures.hmacs.empty() && signatures.ed25519.empty()) {
    return malformed("no signature is base64 of the right length");
  }
  return signatures;
}

std::variant<SignedHeaders, Rejected> read_headers(const InboundRequest& request) {
  const auto& names = names_in(request);
  SignedHeaders headers;
  std::string_view list;
  for (const auto& [name, value] :
       {std::pair{names.id, &headers.id}, std::pair{names.timestamp, &headers.timestamp},
        std::pair{names.signature, &list}}) {
    const auto header = single_header(request, name);
    if (const auto* rejected = std::get_if<Rejected>(&header)) return *rejected;
    *value = std::get<std::string_view>(header);
  }
  if (!is_signable_id(headers.id)) return malformed("the id cannot be one");
  auto signatures = read_signatures(list);
  if (const auto* rejected = std::get_if<Rejected>(&signatures)) return *rejected;
  headers.signatures = std::get<Signatures>(std::move(signatures));
  const auto sent_at = parse_unix_seconds(headers.timestamp);
  if (!sent_at) {
    return Rejected{RejectReason::kTimestampMalformed, "the time is not a number of unix seconds"};
  }
  headers.sent_at = *sent_at;
  return headers;
}

// What the head alone can tell: it is asked before any signature is computed, by `verify` too, so
// that both agree.
std::variant<SignedHeaders, Rejected> judge_head(const InboundRequest& head, SystemTime now,
                                                 std::chrono::seconds tolerance) {
  auto read = read_headers(head);
  if (const auto* headers = std::get_if<SignedHeaders>(&read)) {
    if (auto rejected = judge_age(headers->sent_at, now, tolerance)) return *std::move(rejected);
  }
  return read;
}

bool has_hmac(std::string_view key, const SignedHeaders& headers, std::string_view body) {
  if (headers.signatures.hmacs.empty()) return false;
  const auto mac = hmac_sha256(key, {headers.id, ".", headers.timestamp, ".", body});
  bool matched = false;
  for (const auto& signature : headers.signatures.hmacs) {
    if (equal_in_constant_time(signature, bytes_of(mac))) matched = true;
  }
  return matched;
}

bool has_ed25519(std::string_view key, const SignedHeaders& headers, std::string_view body) {
  if (headers.signatures.ed25519.empty()) return false;
  std::string text;
  for (const auto part :
       {headers.id, std::string_view{"."}, headers.timestamp, std::string_view{"."}, body}) {
    text += part;
  }
  return std::ranges::any_of(headers.signatures.ed25519, [&](const std::string& signature) {
    return ed25519_verifies(key, text, signature);
  });
}

}  // namespace

StandardWebhooks::StandardWebhooks(const ProviderSettings& settings)
    : tolerance_(settings.tolerance) {
  require_secrets(settings.secrets);
  require_tolerance(tolerance_);
  for (const auto& secret : settings.secrets) {
    keys_.push_back(decode_key(secret, static_cast<int>(keys_.size())));
  }
}

StandardWebhooks::Key StandardWebhooks::decode_key(const Secret& secret, int index) {
  std::string_view text = secret.reveal();
  if (text.starts_with(kPrivateKeyPrefix)) {
    throw InvalidProviderSettings(
        index, "the secret is the sender's private key; configure the public one, whpk_...");
  }
  const bool is_public = text.starts_with(kPublicKeyPrefix);
  if (is_public) {
    text.remove_prefix(kPublicKeyPrefix.size());
  } else if (text.starts_with(kSecretPrefix)) {
    text.remove_prefix(kSecretPrefix.size());
  }
  auto bytes = base64_decode(text);
  if (!bytes) throw InvalidProviderSettings(index, "the secret is not base64");
  if (bytes->empty()) throw InvalidProviderSettings(index, "the secret is empty");
  if (is_public && bytes->size() != kEd25519PublicKeyBytes) {
    throw InvalidProviderSettings(index, "the public key is not base64 of 32 bytes");
  }
  if (is_public && is_weak_ed25519_key(*bytes)) {
    throw InvalidProviderSettings(index, "the public key is one that anybody can sign for");
  }
  return {is_public ? KeyKind::kPublic : KeyKind::kSymmetric, *std::move(bytes)};
}

Verdict StandardWebhooks::verify(const InboundRequest& request, SystemTime now) const {
  const auto judged = judge_head(request, now, tolerance_);
  if (const auto* rejected = std::get_if<Rejected>(&judged)) return *rejected;
  const auto& headers = std::get<SignedHeaders>(judged);
  const auto key = std::ranges::find_if(keys_, [&](const Key& candidate) {
    return candidate.kind == KeyKind::kPublic ? has_ed25519(candidate.bytes, headers, request.body)
                                              : has_hmac(candidate.bytes, headers, request.body);
  });
  if (key == keys_.end()) {
    return Rejected{RejectReason::kSignatureMismatch, "no signature matches a configured secret"};
  }
  return Verified{static_cast<std::size_t>(key - keys_.begin())};
}

std::optional<Rejected> StandardWebhooks::refuse_by_head(const InboundRequest& head,
                                                         SystemTime now) const {
  return rejection_in(judge_head(head, now, tolerance_));
}

std::vector<NewEvent> StandardWebhooks::events(const InboundRequest& request) const {
  NewEvent event;
  event.event_id = strip_blanks(request.header(names_in(request).id).value_or(""));
  const auto parsed = parse_json(request.body);
  if (const auto* document = std::get_if<JsonDocument>(&parsed)) {
    const auto& root = document->root;
    event.event_type = text_of(root["type"]);
    event.subject = text_of(root.at({"data", "id"}));
    event.occurred_at = parse_instant(root["timestamp"].string().value_or(""));
    event.content = sha256(canonical_json(root));
  } else {
    event.unusable = "body is not JSON: " + std::get<JsonError>(parsed).message;
    event.content = sha256(request.body);
  }
  event.signed_content = event.content;
  return {std::move(event)};
}

void StandardWebhooks::sign(InboundRequest& request, SystemTime now) const {
  const auto key = std::ranges::find(keys_, KeyKind::kSymmetric, &Key::kind);
  if (key == keys_.end()) throw std::logic_error("a public key cannot sign");
  const auto& names = names_in(request);
  std::string id{strip_blanks(request.header(names.id).value_or(""))};
  if (id.empty()) id = "msg_" + hex_encode(bytes_of(sha256(request.body))).substr(0, 32);
  const auto timestamp = std::to_string(unix_seconds(now));
  const auto mac = hmac_sha256(key->bytes, {id, ".", timestamp, ".", request.body});
  set_header(request, names.id, id);
  set_header(request, names.timestamp, timestamp);
  set_header(request, names.signature, "v1," + base64_encode(bytes_of(mac)));
}

}  // namespace hookgate
