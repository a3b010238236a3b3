#include "handlers/payments/dispute.h"

#include <algorithm>

namespace hookgate {

void add_dispute(const Fact& fact, const Dispute& dispute, Folded& folded) {
  folded.needs_review = folded.needs_review || dispute.needs_review;
  if (dispute.stage == Dispute::Stage::kNone) return;
  folded.milestones.emplace("disputed", fact.id);
  folded.dispute_open = folded.dispute_open || dispute.stage == Dispute::Stage::kOpen;
  if (dispute.stage == Dispute::Stage::kLost) {
    folded.dispute_lost = true;
    folded.milestones.emplace("charged_back", fact.id);
  }
  if (dispute.money_is_out) folded.disputed += dispute.amount;
}

bool knows(const Fact& fact, std::string_view code) {
  return std::ranges::any_of(fact.observations,
                             [&](const Observation& seen) { return seen.code == code; });
}

bool knows_any(const Fact& fact, std::initializer_list<std::string_view> codes) {
  return std::ranges::any_of(codes, [&](std::string_view code) { return knows(fact, code); });
}

}  // namespace hookgate
