#include "config_sources.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "config_forward.h"
#include "config_networks.h"
#include "config_schema.h"
#include "config_sql_handler.h"
#include "config_values.h"
#include "domain/provider.h"
#include "handlers/registry.h"
#include "providers/registry.h"

namespace hookgate {

namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr std::string_view kAdyen = "adyen";
constexpr std::string_view kIdempotencyKey = "idempotency-key";
constexpr std::string_view kItemScheme = "item";
constexpr std::array<std::string_view, 2> kSchemes{kItemScheme, "header"};
constexpr std::string_view kManualCapture = "manual";
constexpr std::array<std::string_view, 2> kCaptures{"immediate", kManualCapture};

constexpr std::size_t kSecretsMax = 16;     // each one costs an HMAC for every request
constexpr std::size_t kClientsMax = 1'000;  // each is compared for every request
constexpr std::size_t kAccountsMax = 1'000;
constexpr std::size_t kHandlersMax = 64;  // of one source
constexpr std::size_t kGlobsMax = 256;    // of one handler
constexpr hours kKeepingMax{24 * 3650};
constexpr hours kClientKeysKept{24};
constexpr NumberRange kRateLimit{.least = 0, .most = 1'000'000};

// Reads one source in steps; each takes what the earlier ones have filled in.
class SourceReader {
 public:
  SourceReader(const ConfigFile& file, const ConfigNode& node)
      : file_(file), node_(node), block_(file, node, config_section("source").title()) {}

  SourceConfig read(BlockNames& names, std::span<const HandlerSettings> handlers);
  void warn(std::vector<std::string>& warnings) const;

 private:
  std::string provider_name() const;
  void read_secrets();
  void read_tolerance();
  void read_adyen_keys();
  std::unique_ptr<Provider> provider() const;
  void read_retain(hours horizon);
  void read_basic_auth();
  void read_senders();
  void read_clients();
  std::string handler_name(std::string_view key, const ConfigText& text,
                           std::span<const HandlerSettings> handlers) const;
  void read_handlers(std::span<const HandlerSettings> handlers);
  void read_respond(std::span<const HandlerSettings> handlers);
  void warn_at(ConfigPosition at, std::string_view text, std::vector<std::string>& warnings) const;

  const ConfigFile& file_;
  const ConfigNode& node_;
  ConfigBlock block_;
  std::vector<ConfigText> secret_texts_;
  SourceConfig source_;
};

std::string known_names(std::span<const std::string_view> names) {
  std::string text;
  for (const auto name : names) {
    text += text.empty() ? "" : ", ";
    text += in_quotes(name);
  }
  return text;
}

// "; did you mean "stripe"?", or else the names there are.
std::string suggest_name(std::string_view word, std::span<const std::string_view> names) {
  const auto hint = did_you_mean(word, names, '"');
  return hint.empty() ? "; there are " + known_names(names) : hint;
}

// One of `now`. Names of `later` are told from those that will never exist.
std::string one_of(const ConfigBlock& block, std::string_view key, const ConfigText& text,
                   std::span<const std::string_view> now, std::span<const std::string_view> later) {
  if (std::ranges::find(now, text.value) != now.end()) return text.value;
  if (std::ranges::find(later, text.value) != later.end())
    block.fail(key, text.at,
               "is " + text.shown + ", which is not available yet; there are " + known_names(now));
  const auto hint =
      text.is_reference ? "; there are " + known_names(now) : suggest_name(text.value, now);
  block.fail(key, text.at, "is " + text.shown + ", which is unknown" + hint);
}

SourceConfig SourceReader::read(BlockNames& names, std::span<const HandlerSettings> handlers) {
  source_.name = names.take(block_);
  source_.provider = provider_name();
  refuse_later_keys(file_, node_, config_section("source"));
  read_clients();
  if (source_.provider != kIdempotencyKey) read_secrets();
  read_tolerance();
  read_adyen_keys();
  read_retain(provider()->redelivery_horizon());
  source_.live = block_.boolean("live");
  read_basic_auth();
  read_senders();
  read_handlers(handlers);
  read_respond(handlers);
  return source_;
}

std::string SourceReader::provider_name() const {
  const auto now = provider_names();
  const auto text = block_.required_text("provider", "; there are " + known_names(now));
  return one_of(block_, "provider", text, now, later_provider_names());
}

void SourceReader::read_secrets() {
  auto texts = block_.texts("secrets", kSecretsMax);
  if (!texts) block_.fail_missing("secrets", "; without one anybody could sign");
  if (texts->empty())
    block_.fail("secrets", block_.find("secrets")->at, "is empty; without one anybody could sign");
  secret_texts_ = *std::move(texts);
  for (const auto& text : secret_texts_) source_.settings.secrets.emplace_back(text.value);
}

void SourceReader::read_tolerance() {
  const auto tolerance = block_.duration("tolerance", {.least = seconds{1}, .most = kKeepingMax});
  if (tolerance) source_.settings.tolerance = std::chrono::duration_cast<seconds>(*tolerance);
}

void SourceReader::read_adyen_keys() {
  if (const auto scheme = block_.text("scheme")) {
    if (source_.provider != kAdyen)
      block_.fail("scheme", scheme->at, "is only for the provider \"adyen\"");
    source_.settings.scheme = one_of(block_, "scheme", *scheme, kSchemes, {});
  }
  const auto accounts = block_.texts("accounts", kAccountsMax);
  if (!accounts) return;
  const auto at = block_.find("accounts")->at;
  if (source_.provider != kAdyen) block_.fail("accounts", at, "is only for the provider \"adyen\"");
  if (accounts->empty()) block_.fail("accounts", at, "is empty; leave it out to take any account");
  for (const auto& account : *accounts) source_.accounts.push_back(account.value);
}

// Made only to see that it can be: a gateway that starts can judge every request it gets.
std::unique_ptr<Provider> SourceReader::provider() const {
  try {
    auto made = make_provider(source_.provider, source_.settings);
    if (!made) block_.fail("provider", block_.at(), "cannot be made");
    return made;
  } catch (const InvalidProviderSettings& invalid) {
    const auto index = static_cast<std::size_t>(invalid.secret_index);
    if (invalid.secret_index < 0 || index >= secret_texts_.size())
      file_.fail(block_.at(), "[[source]] " + in_quotes(source_.name) +
                                  " cannot be verified: " + invalid.message);
    block_.fail(source_.settings.clients.empty() ? "secrets" : "clients", secret_texts_[index].at,
                "cannot be used: " + invalid.message);
  }
}

void SourceReader::read_retain(hours horizon) {
  const auto retain = block_.duration("retain", {.least = hours{1}, .most = kKeepingMax});
  if (retain && *retain < horizon)
    block_.fail("retain", block_.find("retain")->at,
                "is " + format_duration(*retain) + ", but " + source_.provider +
                    " can send an event again for " + format_duration(horizon) + "; write " +
                    in_quotes(format_duration(horizon)) + " or more");
  const auto usual = source_.provider == kIdempotencyKey ? kClientKeysKept : horizon;
  source_.retain = retain ? std::chrono::duration_cast<hours>(*retain) : usual;
}

void SourceReader::read_basic_auth() {
  constexpr std::array<std::string_view, 2> kKeys{"user", "password"};
  const auto* const node = block_.find("basic_auth");
  const auto table = block_.table("basic_auth");
  if (!table) return;
  for (const auto& member : node->members) {
    if (std::ranges::find(kKeys, member.key) == kKeys.end())
      file_.fail(member.key_at, "unknown key " + in_quotes(member.key, '\'') +
                                    " in basic_auth of [[source]]" +
                                    did_you_mean(member.key, kKeys, '\''));
  }
  const auto user = table->required_text("user");
  const auto password = table->required_text("password");
  // RFC 7617: the first colon ends the user's name.
  if (user.value.find(':') != std::string::npos)
    table->fail("user", user.at, "must not hold a colon; the header could not carry it");
  source_.basic_auth = BasicAuthConfig{Secret{user.value}, Secret{password.value}};
}

// Who may send, and how much.
void SourceReader::read_senders() {
  source_.allow = read_networks(block_, "allow");
  source_.rate_limit = block_.number("rate_limit", source_.rate_limit, kRateLimit);
}

std::string SourceReader::handler_name(std::string_view key, const ConfigText& text,
                                       std::span<const HandlerSettings> handlers) const {
  std::vector<std::string_view> known;
  for (const auto& handler : handlers) known.emplace_back(handler.name);
  if (std::ranges::find(known, text.value) == known.end())
    block_.fail(key, text.at,
                "names " + text.shown + ", but there is no such [[handler]]" +
                    (text.is_reference ? "" : did_you_mean(text.value, known, '"')));
  return text.value;
}

void SourceReader::read_handlers(std::span<const HandlerSettings> handlers) {
  const auto texts = block_.texts("handlers", kHandlersMax);
  if (!texts) return;
  for (const auto& text : *texts) {
    auto name = handler_name("handlers", text, handlers);
    if (std::ranges::find(source_.handlers, name) != source_.handlers.end())
      block_.fail("handlers", text.at, "names " + text.shown + " twice");
    source_.handlers.push_back(std::move(name));
  }
}

// Only a handler that has an answer to give.
void SourceReader::read_respond(std::span<const HandlerSettings> handlers) {
  const auto text = block_.text("respond");
  if (!text) return;
  source_.respond = handler_name("respond", *text, handlers);
  const auto handler = std::ranges::find(handlers, source_.respond, &HandlerSettings::name);
  if (handler->kind != "sql")
    block_.fail("respond", text->at,
                "names " + text->shown + " of the kind " + in_quotes(handler->kind) +
                    "; only the kind \"sql\" has an answer");
}

void SourceReader::read_clients() {
  constexpr std::array<std::string_view, 2> kKeys{"name", "key"};
  const auto* const node = block_.find("clients");
  const bool is_ours = source_.provider == kIdempotencyKey;
  if (node == nullptr && is_ours)
    block_.fail_missing("clients", "; without one anybody could send");
  if (node == nullptr) return;
  if (!is_ours)
    block_.fail("clients", node->key_at, "is only for the provider \"idempotency-key\"");
  for (const auto* const key : {"secrets", "basic_auth"}) {
    const auto* const other = block_.find(key);
    if (other != nullptr)
      block_.fail(key, other->key_at,
                  "is not for the provider \"idempotency-key\"; its 'clients' have keys");
  }
  if (!node->is_list_of_tables() || node->elements.size() > kClientsMax)
    block_.fail("clients", node->at,
                "must be a list of 1 to " + std::to_string(kClientsMax) +
                    " tables { name = ..., key = ... }");
  for (const auto& element : node->elements) {
    for (const auto& member : element.members) {
      if (std::ranges::find(kKeys, member.key) == kKeys.end())
        file_.fail(member.key_at, "unknown key " + in_quotes(member.key, '\'') +
                                      " in clients of [[source]]" +
                                      did_you_mean(member.key, kKeys, '\''));
    }
    const ConfigBlock client{file_, element, "clients of [[source]]"};
    const auto name = client.required_text("name");
    if (!is_block_name(name.value))
      client.fail("name", name.at, "must be 1 to 64 of a-z, 0-9, '_' and '-', found " + name.shown);
    const auto key = client.required_text("key");
    secret_texts_.push_back(key);
    source_.settings.clients.push_back({name.value, Secret{key.value}});
  }
}

void SourceReader::warn(std::vector<std::string>& warnings) const {
  const auto name = "source " + in_quotes(source_.name);
  const bool signs_items = source_.provider == kAdyen && source_.settings.scheme == kItemScheme;
  if (signs_items && !source_.basic_auth)
    warn_at(block_.at(),
            name +
                " has no 'basic_auth'; Adyen does not sign fields such as reason and "
                "disputeStatus, so whoever replays a notification can alter them",
            warnings);
  if (source_.handlers.empty() && source_.respond.empty())
    warn_at(block_.at(), name + " has no 'handlers'; its events are only stored", warnings);
  if (source_.settings.tolerance > source_.retain)
    warn_at(block_.find("tolerance")->at,
            name +
                " has a 'tolerance' longer than its 'retain'; a captured request can come "
                "again after its key is forgotten",
            warnings);
}

void SourceReader::warn_at(ConfigPosition at, std::string_view text,
                           std::vector<std::string>& warnings) const {
  warnings.push_back(file_.where(at) + std::string{text});
}

struct KeyOfKind {
  std::string_view key;
  std::string_view kind;
};
constexpr std::array<KeyOfKind, 5> kKeysOfKinds{{{"capture", "payments"},
                                                 {"params", "sql"},
                                                 {"required", "sql"},
                                                 {"statement", "sql"},
                                                 {"answer", "sql"}}};

void refuse_keys_of_other_kinds(const ConfigBlock& block, std::string_view kind) {
  for (const auto& [key, only] : kKeysOfKinds) {
    const auto* const node = block.find(key);
    if (node != nullptr && kind != only)
      block.fail(key, node->key_at, "is only for the kind " + in_quotes(only));
  }
}

}  // namespace

std::string BlockNames::take(const ConfigBlock& block) {
  const auto text = block.required_text("name");
  if (!is_block_name(text.value))
    block.fail("name", text.at, "must be 1 to 64 of a-z, 0-9, '_' and '-', found " + text.shown);
  const auto [known, is_new] = lines_.try_emplace(text.value, block.at().line);
  if (!is_new)
    block.fail(
        "name", text.at,
        "is " + text.shown + ", which the block in line " + std::to_string(known->second) + " has");
  return text.value;
}

HandlerSettings read_handler(const ConfigFile& file, const ConfigNode& node, BlockNames& names,
                             std::vector<std::string>& warnings) {
  const auto& section = config_section("handler");
  const ConfigBlock block{file, node, section.title()};
  const auto kinds = handler_kinds();
  HandlerSettings settings;
  settings.name = names.take(block);
  const auto kind = block.required_text("kind", "; there are " + known_names(kinds));
  settings.kind = one_of(block, "kind", kind, kinds, later_handler_kinds());
  refuse_later_keys(file, node, section);
  refuse_keys_of_other_kinds(block, settings.kind);
  if (const auto globs = block.texts("events", kGlobsMax)) {
    if (globs->empty())
      block.fail("events", block.find("events")->at, "is empty; leave it out to see every event");
    for (const auto& glob : *globs) settings.events.push_back(glob.value);
  }
  if (const auto capture = block.text("capture"))
    settings.capture = one_of(block, "capture", *capture, kCaptures, {});
  if (settings.kind == "sql") settings.sql = read_sql_handler(file, block, warnings);
  read_forward_keys(block, settings);
  return settings;
}

SourceConfig read_source(const ConfigFile& file, const ConfigNode& node, BlockNames& names,
                         std::span<const HandlerSettings> handlers,
                         std::vector<std::string>& warnings) {
  SourceReader reader{file, node};
  auto source = reader.read(names, handlers);
  reader.warn(warnings);
  return source;
}

}  // namespace hookgate
