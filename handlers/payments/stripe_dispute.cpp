// A Stripe dispute goes by its status: the last closing decides, and what has none is open. The
// events on funds decide only where the status does not say it.
#include <algorithm>
#include <map>

#include "handlers/payments/dispute.h"

namespace hookgate {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

void keep_latest(std::optional<std::int64_t>& latest, const Observation& seen) {
  latest = std::max(latest.value_or(0), seen.at.value_or(0));
}

// What the events say of the stages of a dispute.
struct Stages {
  std::map<std::int64_t, std::set<std::string>> closings;  // statuses by time
  std::set<std::string> endings;                           // statuses of an end, by any event
  std::optional<std::int64_t> disputed_at;                 // latest sign of a full dispute
  std::optional<std::int64_t> appealed_at;                 // latest sign of an appeal
};

Stages read_stages(const Fact& fact) {
  Stages stages;
  for (const auto& seen : fact.observations) {
    if (is_one_of(seen.status, {"won", "lost", "prevented", "warning_closed"})) {
      stages.endings.insert(seen.status);
      if (seen.code == "charge.dispute.closed")
        stages.closings[seen.at.value_or(0)].insert(seen.status);
    }
    if (is_one_of(seen.status, {"needs_response", "under_review"}))
      keep_latest(stages.disputed_at, seen);
    if (seen.status.starts_with("appeal_")) keep_latest(stages.appealed_at, seen);
  }
  return stages;
}

// An appeal after the last closing opens a dispute again; so does a full dispute after the closing
// of its inquiry.
bool is_reopened(const Stages& stages) {
  if (stages.closings.empty()) return stages.appealed_at.has_value();
  const auto& [closed_at, statuses] = *stages.closings.rbegin();
  if (stages.appealed_at && *stages.appealed_at > closed_at) return true;
  const bool only_inquiry = statuses == std::set<std::string>{"warning_closed"};
  return only_inquiry && stages.disputed_at && *stages.disputed_at > closed_at;
}

// Prevented is no chargeback: the money is lost only if it was taken and not given back.
bool is_lost(const std::string& status, const Fact& fact) {
  if (status == "prevented") {
    return knows(fact, "charge.dispute.funds_withdrawn") &&
           !knows(fact, "charge.dispute.funds_reinstated");
  }
  return status == "lost";
}

}  // namespace

Dispute judge_stripe_dispute(const Fact& fact) {
  Dispute dispute;
  std::int64_t highest = 0;
  for (const auto& seen : fact.observations) highest = std::max(highest, seen.amount.value_or(0));
  dispute.amount = Figure::of(highest);
  const auto stages = read_stages(fact);
  const auto& ends = stages.closings.empty() ? stages.endings : stages.closings.rbegin()->second;
  if (ends.empty() || is_reopened(stages)) {
    dispute.stage = Dispute::Stage::kOpen;
    dispute.money_is_out = stages.disputed_at || stages.appealed_at;  // an inquiry holds none
    return dispute;
  }
  bool lost = false;
  if (ends.size() == 1) {
    lost = is_lost(*ends.begin(), fact);
  } else {
    lost = !knows(fact, "charge.dispute.funds_reinstated");
    dispute.needs_review = lost;
  }
  dispute.stage = lost ? Dispute::Stage::kLost : Dispute::Stage::kWon;
  dispute.money_is_out = lost;
  return dispute;
}

}  // namespace hookgate
