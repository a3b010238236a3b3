#include "config_forward.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "domain/ip_network.h"
#include "domain/public_address.h"
#include "providers/registry.h"

namespace hookgate {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr std::string_view kForward = "forward";
constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::array<std::string_view, 7> kForwardKeys{
    "url", "secret", "timeout", "concurrency", "max_attempts", "ordered", "private_addresses"};

constexpr DurationRange kTimeout{.least = milliseconds{100}, .most = minutes{10}};
constexpr IntegerRange kConcurrency{.least = 1, .most = 64};  // each is a thread
constexpr IntegerRange kAttempts{.least = 1, .most = 1'000};

void refuse_forward_keys(const ConfigBlock& block) {
  for (const auto key : kForwardKeys) {
    if (const auto* const node = block.find(key))
      block.fail(key, node->at, "is only for the kind \"forward\"");
  }
}

void read_url(const ConfigBlock& block, ForwardSettings& forward) {
  const auto text = block.required_text("url", "; the kind \"forward\" sends there");
  auto parsed = parse_http_url(text.value);
  if (const auto* const bad = std::get_if<BadHttpUrl>(&parsed))
    block.fail("url", text.at,
               "must be a URL such as \"https://crm.internal/hooks\", found " + text.shown +
                   ", which " + bad->reason);
  forward.url = std::get<HttpUrl>(std::move(parsed));
}

// The provider's own decoding judges it, so that what starts can sign.
void read_secret(const ConfigBlock& block, ForwardSettings& forward) {
  const auto text = block.required_text("secret", "; receivers trust what it signs");
  if (!text.value.starts_with(kSecretPrefix))
    block.fail("secret", text.at, "must be \"whsec_\" and base64, the key that signs");
  forward.secret = Secret{text.value};
  ProviderSettings settings;
  settings.secrets = {forward.secret};
  try {
    make_provider("standard-webhooks", settings);
  } catch (const InvalidProviderSettings& invalid) {
    block.fail("secret", text.at, "cannot be used: " + invalid.message);
  }
}

void read_private_addresses(const ConfigBlock& block, ForwardSettings& forward) {
  const auto text = block.text("private_addresses");
  if (!text) return;
  if (text->value != "allow" && text->value != "refuse")
    block.fail("private_addresses", text->at,
               "is " + text->shown + ", which is unknown; there are \"allow\", \"refuse\"");
  forward.refuse_private_addresses = text->value == "refuse";
  const auto address = IpAddress::parse(forward.url.host);
  if (forward.refuse_private_addresses && address && !is_public_address(*address))
    block.fail("private_addresses", text->at, "is \"refuse\", but 'url' names a private address");
}

}  // namespace

void read_forward_keys(const ConfigBlock& block, HandlerSettings& settings) {
  if (settings.kind != kForward) {
    refuse_forward_keys(block);
    return;
  }
  if (const auto* const capture = block.find("capture"))
    block.fail("capture", capture->at, "is only for the kind \"payments\"");
  ForwardSettings forward;
  read_url(block, forward);
  read_secret(block, forward);
  forward.timeout = block.duration("timeout", kTimeout).value_or(forward.timeout);
  forward.concurrency =
      static_cast<int>(block.integer("concurrency", forward.concurrency, kConcurrency));
  forward.max_attempts =
      static_cast<int>(block.integer("max_attempts", forward.max_attempts, kAttempts));
  forward.ordered = block.boolean("ordered").value_or(forward.ordered);
  read_private_addresses(block, forward);
  settings.forward = std::move(forward);
}

}  // namespace hookgate
