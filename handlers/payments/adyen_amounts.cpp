#include "handlers/payments/adyen_amounts.h"

#include <algorithm>
#include <map>

namespace hookgate {

Figure signed_amount(const Fact& fact, const std::function<bool(const Observation&)>& counts) {
  std::set<std::int64_t> amounts;
  std::set<std::string> currencies;
  for (const auto& seen : fact.observations) {
    if (!counts(seen)) continue;
    amounts.insert(seen.amount.value_or(0));
    currencies.insert(seen.currency);
  }
  auto figure = Figure::among(amounts);
  if (currencies.size() > 1) figure.amount = std::nullopt;
  return figure;
}

bool contradicts_itself(const Fact& fact) {
  std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::string>> known;
  return std::ranges::any_of(fact.observations, [&](const Observation& seen) {
    // These two come several times under one reference, told apart by their date.
    if (seen.code == "ISSUER_COMMENTS" || seen.code == "INFORMATION_SUPPLIED") return false;
    const std::pair figure{seen.amount.value_or(0), seen.currency};
    const auto [first, is_new] = known.try_emplace({seen.code, seen.status}, figure);
    return !is_new && first->second != figure;
  });
}

}  // namespace hookgate
