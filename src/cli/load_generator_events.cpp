#include "cli/load_generator_events.h"

#include <array>
#include <optional>
#include <utility>

#include "cli/load_generator.h"

namespace hookgate {
namespace {

constexpr std::string_view kEventMark = "{event}";
constexpr std::string_view kPaddingMark = "{padding}";
constexpr std::size_t kTokenBytes = 24;  // 16 hex digits of the number, 8 of the run

// A payment of the usual size. The event is of no use to anybody but has the shape of a real one,
// so that parsing, compressing and the ledger cost what they cost in earnest.
constexpr std::string_view kStripeBody = R"json({
  "id": "evt_bench{event}",
  "object": "event",
  "api_version": "2026-10-28.endive",
  "created": 1767225600,
  "data": {
    "object": {
      "id": "pi_bench{event}",
      "object": "payment_intent",
      "amount": 4250,
      "amount_capturable": 0,
      "amount_details": {
        "tip": {}
      },
      "amount_received": 4250,
      "application": null,
      "application_fee_amount": null,
      "automatic_payment_methods": {
        "allow_redirects": "always",
        "enabled": true
      },
      "canceled_at": null,
      "cancellation_reason": null,
      "capture_method": "automatic_async",
      "client_secret": "pi_bench{event}_secret_invented",
      "confirmation_method": "automatic",
      "created": 1767225590,
      "currency": "eur",
      "customer": "cus_bench{event}",
      "description": "Two tickets, paid at once",
      "last_payment_error": null,
      "latest_charge": "ch_bench{event}",
      "livemode": false,
      "metadata": {
        "order": "bench-{event}",
        "cart": "{padding}"
      },
      "next_action": null,
      "on_behalf_of": null,
      "payment_method": "pm_bench{event}",
      "payment_method_configuration_details": null,
      "payment_method_options": {
        "card": {
          "installments": null,
          "mandate_options": null,
          "network": null,
          "request_three_d_secure": "automatic"
        }
      },
      "payment_method_types": [
        "card"
      ],
      "processing": null,
      "receipt_email": "buyer@example.test",
      "review": null,
      "setup_future_usage": null,
      "shipping": {
        "address": {
          "city": "Sampletown",
          "country": "NL",
          "line1": "Invented Street 12",
          "line2": null,
          "postal_code": "1000 AA",
          "state": null
        },
        "carrier": null,
        "name": "A. Buyer",
        "phone": null,
        "tracking_number": null
      },
      "source": null,
      "statement_descriptor": null,
      "statement_descriptor_suffix": null,
      "status": "succeeded",
      "transfer_data": null,
      "transfer_group": null
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {
    "id": "req_bench{event}",
    "idempotency_key": "bench-{event}-pay"
  },
  "type": "payment_intent.succeeded"
})json";

constexpr std::string_view kAdyenBody =
    R"json({"live":"false","notificationItems":[{"NotificationRequestItem":{"additionalData":{)json"
    R"json("authCode":"012345","cardSummary":"1111","expiryDate":"03/2030","cardBin":"411111",)json"
    R"json("paymentMethodVariant":"visa","metadata.cart":"{padding}","hmacSignature":""},)json"
    R"json("amount":{"currency":"EUR","value":4250},"eventCode":"AUTHORISATION",)json"
    R"json("eventDate":"2026-01-01T01:00:00+01:00","merchantAccountCode":"LoadTestECOM",)json"
    R"json("merchantReference":"bench-{event}","operations":["CANCEL","CAPTURE","REFUND"],)json"
    R"json("paymentMethod":"visa","pspReference":"BENCH{event}","reason":"012345:1111:03/2030",)json"
    R"json("success":"true"}}]})json";

// For senders that put an id in the body or in a header.
constexpr std::string_view kPlainBody =
    R"json({"id":"evt_bench{event}","type":"load.test","timestamp":"2026-01-01T00:00:00Z",)json"
    R"json("data":{"id":"obj_bench{event}","note":"{padding}"}})json";

struct Template {
  std::string_view provider;
  std::string_view body;
  std::string_view id_header;  // "" for none
};

constexpr Template kTemplates[] = {
    {"stripe", kStripeBody, ""},
    {"adyen", kAdyenBody, ""},
    {"standard-webhooks", kPlainBody, "webhook-id"},
};

const Template& template_for(std::string_view provider) {
  static constexpr Template kOther{"", kPlainBody, ""};
  for (const auto& known : kTemplates) {
    if (known.provider == provider) return known;
  }
  return kOther;
}

// A one-to-one map of 64-bit numbers that looks random: the finisher of SplitMix64 (public domain,
// Vigna 2015).
std::uint64_t scrambled(std::uint64_t number) {
  number += 0x9E3779B97F4A7C15U;
  number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9U;
  number = (number ^ (number >> 27U)) * 0x94D049BB133111EBU;
  return number ^ (number >> 31U);
}

void append_hex(std::string& out, std::uint64_t value, unsigned digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (unsigned left = digits; left > 0; --left) out += kDigits[(value >> (4 * (left - 1))) & 15U];
}

// Half of it repeats and half does not, like the payloads that shops attach.
std::string padding(std::size_t bytes) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < bytes; ++i) {
    text += "sku-";
    append_hex(text, scrambled(i) >> 16U, 12);
    text += " x1, ";
  }
  text.resize(bytes);
  return text;
}

std::string with_padding(std::string_view body, std::size_t body_bytes) {
  std::string text{body};
  const auto at = text.find(kPaddingMark);
  text.erase(at, kPaddingMark.size());
  std::size_t bytes = text.size();
  for (auto mark = text.find(kEventMark); mark != std::string::npos;
       mark = text.find(kEventMark, mark + 1)) {
    bytes += kTokenBytes - kEventMark.size();
  }
  if (bytes < body_bytes) text.insert(at, padding(body_bytes - bytes));
  return text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

LoadEvents::LoadEvents(const Provider& provider, std::string target, std::size_t body_bytes,
                       std::uint64_t run)
    : provider_(provider), run_(run) {
  const auto& shape = template_for(provider.name());
  std::vector<Header> headers{{"Content-Type", "application/json; charset=utf-8"},
                              {"User-Agent", "hookgate-bench"}};
  if (!shape.id_header.empty())
    headers.push_back({std::string{shape.id_header}, "msg_bench{event}"});
  read_template(with_padding(shape.body, body_bytes), std::move(headers));
  request_.method = "POST";
  request_.target = std::move(target);
  check_ids();
}

void LoadEvents::read_template(std::string body, std::vector<Header> headers) {
  const std::string blank(kTokenBytes, '0');
  const auto note = [&](std::string& text, std::size_t header) {
    for (auto at = text.find(kEventMark); at != std::string::npos;
         at = text.find(kEventMark, at + kTokenBytes)) {
      text.replace(at, kEventMark.size(), blank);
      places_.push_back({header, at});
    }
  };
  note(body, kBody);
  for (std::size_t i = 0; i < headers.size(); ++i) note(headers[i].value, i);
  body_ = std::move(body);
  headers_ = std::move(headers);
}

// Else a load test of such a provider would measure nothing but duplicates.
void LoadEvents::check_ids() {
  std::array<std::optional<std::string>, 2> ids;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto now = system_now();
    const auto& request = signed_request(i, now);
    if (!std::holds_alternative<Verified>(provider_.verify(request, now))) break;
    const auto events = provider_.events(request);
    if (events.size() == 1 && events.front().unusable.empty()) ids[i] = events.front().event_id;
  }
  if (!ids[0] || !ids[1] || ids[0] == ids[1]) {
    throw LoadError("no load test for the provider '" + std::string{provider_.name()} +
                    "': its events cannot be made here");
  }
}

std::string LoadEvents::token(std::uint64_t number) const {
  std::string text;
  text.reserve(kTokenBytes);
  append_hex(text, scrambled(number + (run_ << 20U)), 16);
  append_hex(text, run_ & 0xFFFFFFFFU, 8);
  return text;
}

const InboundRequest& LoadEvents::signed_request(std::uint64_t number, SystemTime now) {
  request_.body = body_;
  request_.headers = headers_;
  const auto text = token(number);
  for (const auto& place : places_) {
    auto& target = place.header == kBody ? request_.body : request_.headers[place.header].value;
    target.replace(place.offset, kTokenBytes, text);
  }
  provider_.sign(request_, now);
  return request_;
}

const InboundRequest& LoadEvents::forged_request(std::uint64_t number, SystemTime now) {
  signed_request(number, now);
  const auto from = token(number);
  auto to = from;
  to.front() = to.front() == '0' ? '1' : '0';
  replace_all(request_.body, from, to);
  return request_;
}

}  // namespace hookgate
