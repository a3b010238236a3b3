// An Adyen dispute goes by the set of its codes, never by dates; final stages outrank the others.
#include <algorithm>
#include <limits>
#include <tuple>

#include "handlers/payments/adyen_amounts.h"
#include "handlers/payments/dispute.h"

namespace hookgate {
namespace {

using Stage = Dispute::Stage;

// disputeStatus of the CHARGEBACK with the latest eventDate: the one unsigned detail that decides
// something here. It turns an open dispute into a lost one and moves no money.
bool chargeback_is_settled(const Fact& fact) {
  std::tuple<std::int64_t, std::string, std::string> latest{
      std::numeric_limits<std::int64_t>::min(), "", ""};
  for (const auto& seen : fact.observations) {
    if (seen.code != "CHARGEBACK") continue;
    latest = std::max(latest, {seen.at.value_or(std::numeric_limits<std::int64_t>::min()),
                               seen.details, seen.reason});
  }
  const auto& status = std::get<2>(latest);
  return status == "Lost" || status == "Accepted" || status == "Expired";
}

// That of the second chargeback, else of the chargeback, else the highest: the events of a dispute
// are one amount moving and are never added.
Figure dispute_amount(const Fact& fact) {
  for (const auto* code : {"SECOND_CHARGEBACK", "CHARGEBACK", "DISPUTE_OPENED_WITH_CHARGEBACK"}) {
    if (knows(fact, code))
      return signed_amount(fact, [&](const Observation& seen) { return seen.code == code; });
  }
  std::int64_t highest = 0;
  for (const auto& seen : fact.observations) highest = std::max(highest, seen.amount.value_or(0));
  auto figure = Figure::of(highest);
  if (contradicts_itself(fact)) figure.amount = std::nullopt;
  return figure;
}

void judge_open(const Fact& fact, Dispute& dispute) {
  const bool charged_back = knows_any(fact, {"CHARGEBACK", "DISPUTE_OPENED_WITH_CHARGEBACK"});
  const bool reversed = knows(fact, "CHARGEBACK_REVERSED");
  if (knows(fact, "PREARBITRATION_OPEN")) {
    dispute.stage = Stage::kOpen;
    dispute.money_is_out = charged_back && !reversed;
  } else if (reversed) {
    dispute.stage = Stage::kWon;
  } else if (charged_back) {
    dispute.stage = Stage::kOpen;
    dispute.money_is_out = true;
  } else if (knows(fact, "NOTIFICATION_OF_CHARGEBACK")) {
    dispute.stage = Stage::kOpen;
  }
  if (dispute.stage == Stage::kOpen && chargeback_is_settled(fact)) dispute.stage = Stage::kLost;
}

}  // namespace

Dispute judge_adyen_dispute(const Fact& fact) {
  Dispute dispute;
  dispute.amount = dispute_amount(fact);
  const bool lost = knows_any(
      fact, {"SECOND_CHARGEBACK", "SCHEME_ARBITRATION_LOST", "DISPUTE_DEFENSE_PERIOD_ENDED"});
  const bool won = knows_any(
      fact, {"SCHEME_ARBITRATION_WON", "ISSUER_RESPONSE_TIMEFRAME_EXPIRED", "PREARBITRATION_WON"});
  if (lost && won) {
    const bool scheme_lost = knows(fact, "SCHEME_ARBITRATION_LOST");
    const bool scheme_won = knows(fact, "SCHEME_ARBITRATION_WON");
    dispute.needs_review = scheme_lost == scheme_won;
    dispute.stage = scheme_won && !scheme_lost ? Stage::kWon : Stage::kLost;
  } else if (won) {
    dispute.stage = Stage::kWon;
  } else if (lost || knows(fact, "PREARBITRATION_LOST")) {
    dispute.stage = Stage::kLost;
  } else {
    judge_open(fact, dispute);
    return dispute;
  }
  dispute.money_is_out = dispute.stage == Stage::kLost;
  return dispute;
}

}  // namespace hookgate
