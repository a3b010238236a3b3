#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/hmac.h"

namespace hookgate {

// Invented keys.
inline const std::string kAdyenKey =
    "00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF";
inline const std::string kOtherAdyenKey(64, 'A');

// Fields of an item as JSON texts; "" leaves one out.
struct ItemFields {
  std::string psp_reference = R"("PSPC1")";
  std::string original_reference = R"("PSPA1")";
  std::string account = R"("TestShopECOM")";
  std::string merchant_reference = R"("order:7\\x")";
  std::string value = "1099";
  std::string currency = R"("EUR")";
  std::string event_code = R"("CAPTURE")";
  std::string success = R"("true")";
  std::string event_date = R"("2026-01-01T01:00:00+01:00")";
  std::string reason = R"("")";
  std::string additional = R"({"authCode":"012345"})";
};

inline void add_member(std::string& out, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  if (out.size() > 1) out += ',';
  out += '"';
  out.append(name).append("\":").append(value);
}

inline std::string item_json(const ItemFields& fields) {
  std::string amount = "{";
  add_member(amount, "value", fields.value);
  add_member(amount, "currency", fields.currency);
  std::string item = "{";
  add_member(item, "additionalData", fields.additional);
  add_member(item, "amount", amount + "}");
  add_member(item, "eventCode", fields.event_code);
  add_member(item, "eventDate", fields.event_date);
  add_member(item, "merchantAccountCode", fields.account);
  add_member(item, "merchantReference", fields.merchant_reference);
  add_member(item, "originalReference", fields.original_reference);
  add_member(item, "pspReference", fields.psp_reference);
  add_member(item, "reason", fields.reason);
  add_member(item, "success", fields.success);
  return R"({"NotificationRequestItem":)" + item + "}}";
}

inline std::string batch_json(const std::vector<ItemFields>& items,
                              const std::string& live = "\"false\"") {
  std::string list;
  for (const auto& item : items) list += (list.empty() ? "" : ",") + item_json(item);
  return R"({"live":)" + live + R"(,"notificationItems":[)" + list + "]}";
}

inline std::string signed_over(std::string_view text, const std::string& key = kAdyenKey) {
  return base64_encode(bytes_of(hmac_sha256(*hex_decode(key), {text})));
}

inline ItemFields with_signature(ItemFields fields, const std::string& signature) {
  fields.additional = R"({"hmacSignature":")" + signature + "\"}";
  return fields;
}

}  // namespace hookgate
