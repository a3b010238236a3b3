#include <memory>
#include <string>
#include <variant>

#include "domain/json.h"
#include "domain/provider.h"
#include "event_checks.h"
#include "fuzz_target.h"
#include "providers/adyen.h"
#include "providers/adyen_item.h"

// Any body, as both schemes of Adyen read it.

namespace hookgate {
namespace {

std::unique_ptr<Provider> made(const std::string& scheme, char key_digit) {
  ProviderSettings settings;
  settings.secrets.emplace_back(std::string(64, key_digit));
  settings.scheme = scheme;
  return make_adyen(settings);
}

bool accepts(const Provider& provider, const InboundRequest& request) {
  return std::holds_alternative<Verified>(provider.verify(request, SystemTime{}));
}

bool names_twice(std::string_view body) {
  const auto parsed = parse_json(body);
  const auto* document = std::get_if<JsonDocument>(&parsed);
  return document != nullptr && document->has_doubled_keys();
}

void check_header_scheme(const InboundRequest& unsigned_request) {
  static const auto provider = made("header", 'A');
  auto request = unsigned_request;
  require(!accepts(*provider, request), "a request without a signature is refused");
  check_events(provider->events(request));
  provider->sign(request, SystemTime{});
  require(accepts(*provider, request) == !request.body.empty(), "what was signed is accepted");
}

// `unsigned_request` is readable, whether or not signatures are in it.
void check_items(const InboundRequest& unsigned_request) {
  static const auto provider = made("item", 'A');
  static const auto stranger = made("item", 'B');
  static const auto by_header = made("header", 'A');
  const auto events = provider->events(unsigned_request);
  require(have_same_keys(events, by_header->events(unsigned_request)),
          "both schemes give a batch the same keys");
  require(!accepts(*stranger, unsigned_request), "nobody knows the stranger's key");

  auto request = unsigned_request;
  provider->sign(request, SystemTime{});
  require(accepts(*provider, request), "what was signed is accepted");
  require(!accepts(*stranger, request), "another key's signature is refused");
  require(have_same_keys(events, provider->events(request)), "a signature changes no key");
  const auto once = request.body;
  provider->sign(request, SystemTime{});
  require(request.body == once, "to sign again changes nothing");
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  static const auto provider = made("item", 'A');
  InboundRequest request;
  request.method = "POST";
  request.target = "/webhooks/adyen";
  request.body = bytes;
  const auto events = provider->events(request);
  check_events(events);
  check_header_scheme(request);
  const auto read = read_adyen_batch(bytes);
  if (const auto* batch = std::get_if<AdyenBatch>(&read)) {
    require(!names_twice(bytes), "what can be read in two ways is refused");
    require(events.size() == batch->items.size(), "an item is an event");
    require(events.front().unusable.empty(), "a readable batch is usable");
    check_items(request);
  } else {
    require(!accepts(*provider, request), "what cannot be read is refused");
    require(events.size() == 1 && !events.front().unusable.empty(), "and is of no use");
  }
}

}  // namespace hookgate
