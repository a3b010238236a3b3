#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "domain/http_message.h"
#include "gateway_support.h"

namespace hookgate {

// Where the shared cases are: $HOOKGATE_SHARED, else beside the checkout. Nothing when they are not
// there.
std::optional<std::filesystem::path> shared_folder();

nlohmann::json read_json(const std::filesystem::path& file);

// A request of a case: headers as a list of pairs, the body as base64.
InboundRequest case_request(const nlohmann::json& request);

// Abstract events of one payment, turned into signed requests.
//
// `suffix` is put on every id and reference, so that many orders of one sequence can run on one
// gateway at once; expectations are looked up under the same suffix.
struct AbstractEvents {
  std::string provider;
  std::string secret;
  std::string suffix;
  SystemTime now{};

  InboundRequest request(const nlohmann::json& event) const;
};

// What the ledger must say of a payment: compares status, amounts and flags that `expected` names;
// "" when all agree, else a text that tells the difference.
std::string compare_payment(TestDatabase& database, const std::string& payment_id,
                            const nlohmann::json& expected);

}  // namespace hookgate
