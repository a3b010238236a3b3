#include "handlers/payments/extraction.h"

namespace hookgate {

Extraction extract(std::string_view provider, std::string_view body, int item) {
  if (provider != "stripe" && provider != "adyen") return NotForTheLedger{};
  const auto parsed = parse_json(body);
  if (const auto* error = std::get_if<JsonError>(&parsed))
    return Unreadable{"the body is not JSON: " + error->message};
  const auto& root = std::get<JsonDocument>(parsed).root;
  if (provider == "stripe") return extract_stripe(root);
  const auto& items = root["notificationItems"].elements();
  if (item < 0 || static_cast<std::size_t>(item) >= items.size()) return NotForTheLedger{};
  return extract_adyen(items[static_cast<std::size_t>(item)]["NotificationRequestItem"]);
}

}  // namespace hookgate
