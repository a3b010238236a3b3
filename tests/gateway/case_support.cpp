#include "case_support.h"

#include <cstdlib>
#include <fstream>

#include "providers/registry.h"

namespace hookgate {
namespace {

using nlohmann::json;

std::string decode_base64(const std::string& text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = kAlphabet.find(c);
    if (value == std::string_view::npos) break;
    bits = (bits << 6U) | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
    }
  }
  return bytes;
}

// Names of fields that hold an id of the sequence's own world.
bool is_id_field(const std::string& name) {
  for (const auto* id :
       {"id", "payment", "payment_intent", "charge", "latest_charge", "invoice", "order",
        "pspReference", "originalReference", "merchantReference", "balance_transaction"}) {
    if (name == id) return true;
  }
  return false;
}

void add_suffix(json& value, const std::string& suffix) {
  for (auto& [name, member] : value.items()) {
    if (member.is_structured()) {
      add_suffix(member, suffix);
    } else if (value.is_object() && member.is_string() && is_id_field(name) &&
               !member.get<std::string>().empty()) {
      member = member.get<std::string>() + suffix;
    }
  }
}

json stripe_body(const json& event, const std::string& suffix) {
  auto object = event.at("object");
  if (object.contains("payment")) {
    if (object.value("object", "") != "payment_intent")
      object["payment_intent"] = object["payment"];
    object.erase("payment");
  }
  add_suffix(object, suffix);
  json body{{"id", event.at("event_id").get<std::string>() + suffix},
            {"object", "event"},
            {"type", event.at("type")},
            {"created", event.at("created")},
            {"livemode", false},
            {"data", {{"object", object}}}};
  const bool has_version = event.contains("api_version");
  body["api_version"] = has_version ? event["api_version"] : json("2024-06-20");
  return body;
}

json adyen_body(const json& event, const std::string& suffix) {
  auto item = event;
  for (const auto* own : {"n", "provider"}) item.erase(own);
  item["success"] = event.at("success").get<bool>() ? "true" : "false";
  if (!item.contains("merchantAccountCode")) item["merchantAccountCode"] = "ExampleMerchantECOM";
  if (item.value("originalReference", "").empty()) item.erase("originalReference");
  add_suffix(item, suffix);
  return {{"live", "false"}, {"notificationItems", {{{"NotificationRequestItem", item}}}}};
}

std::string amount_column(TestDatabase& database, const std::string& id,
                          const std::string& column) {
  return database.value("SELECT " + column + " FROM hookgate.payments WHERE payment_id = '" + id +
                        "'");
}

}  // namespace

std::optional<std::filesystem::path> shared_folder() {
  const char* given = std::getenv("HOOKGATE_SHARED");
  const std::filesystem::path folder =
      given != nullptr ? std::filesystem::path{given}
                       : std::filesystem::path{HOOKGATE_SOURCE_DIR} / ".." / "shared";
  if (!std::filesystem::exists(folder / "cases" / "open" / "sequences.json")) return std::nullopt;
  return folder;
}

nlohmann::json read_json(const std::filesystem::path& file) {
  std::ifstream in{file};
  return json::parse(in);
}

InboundRequest case_request(const nlohmann::json& request) {
  InboundRequest result;
  result.method = request.value("method", "POST");
  result.target = request.at("path");
  for (const auto& header : request.value("headers", json::array())) {
    result.headers.push_back({header[0], header[1]});
  }
  result.body = decode_base64(request.value("body_base64", ""));
  return result;
}

InboundRequest AbstractEvents::request(const nlohmann::json& event) const {
  const auto who = event.value("provider", provider);
  const auto body = who == "adyen" ? adyen_body(event, suffix) : stripe_body(event, suffix);
  return signed_request(*test_provider(who, secret), who, body.dump(), now);
}

std::string compare_payment(TestDatabase& database, const std::string& payment_id,
                            const nlohmann::json& expected) {
  std::string difference;
  const auto compare = [&](const std::string& what, const std::string& seen,
                           const std::string& wanted) {
    if (seen != wanted)
      difference += payment_id + ": " + what + " is " + seen + ", not " + wanted + "\n";
  };
  if (database.count("hookgate.payments WHERE payment_id = '" + payment_id + "'") != 1) {
    return payment_id + ": there is no such payment (or there are several)\n";
  }
  for (const auto& [name, wanted] : expected.items()) {
    if (name == "status")
      compare(name, amount_column(database, payment_id, "status"), wanted.get<std::string>());
    if (name.starts_with("amount_")) {
      compare(name, amount_column(database, payment_id, name),
              wanted.is_null() ? "NULL" : wanted.dump());
    }
  }
  std::string flags;
  for (const auto& flag : expected.value("flags", json::array())) {
    flags += (flags.empty() ? "" : ",") + flag.get<std::string>();
  }
  compare("flags",
          amount_column(database, payment_id,
                        "array_to_string(ARRAY(SELECT unnest(flags) ORDER BY 1), ',')"),
          flags);
  return difference;
}

}  // namespace hookgate
