// An Adyen payment from its authorization, modifications and disputes. Policy: handlers/README.md.
#include <algorithm>

#include "handlers/payments/adyen_amounts.h"
#include "handlers/payments/dispute.h"
#include "handlers/payments/payment_state.h"

namespace hookgate {
namespace {

bool is_success(const Observation& seen, std::string_view code) {
  return seen.code == code && seen.status == "true";
}

bool knows_success(const Fact& fact, std::string_view code) {
  return std::ranges::any_of(fact.observations,
                             [&](const Observation& seen) { return is_success(seen, code); });
}

Figure amount_of_success(const Fact& fact, std::string_view code) {
  return signed_amount(fact, [&](const Observation& seen) { return is_success(seen, code); });
}

// Instants of one kind of event of a capture.
struct Dates {
  bool known = false;
  bool one_is_unreadable = false;
  std::optional<std::int64_t> latest;

  void add(const Observation& seen) {
    known = true;
    if (seen.at) {
      latest = std::max(latest.value_or(*seen.at), *seen.at);
    } else {
      one_is_unreadable = true;
    }
  }
};

struct Capture {
  bool counts = false;
  bool has_failed = false;
  bool failure_stands = false;
  bool needs_review = false;
};

// Judged by four things that only grow: was it accepted, and the latest failure, recapture and
// other CAPTURE. A recapture dated after every failure brings the money back.
Capture judge_capture(const Fact& fact) {
  Dates failures;
  Dates recaptures;
  Dates others;
  for (const auto& seen : fact.observations) {
    if (seen.code == "CAPTURE_FAILED") failures.add(seen);
    if (is_success(seen, "CAPTURE")) (seen.reason == "recaptured" ? recaptures : others).add(seen);
  }
  const bool accepted = recaptures.known || others.known;
  Capture capture;
  if (!failures.known) {
    capture.counts = accepted;
    return capture;
  }
  capture.has_failed = true;
  const bool failures_are_dated = !failures.one_is_unreadable;
  capture.counts = failures_are_dated && recaptures.latest && *recaptures.latest > *failures.latest;
  capture.failure_stands = !capture.counts;
  if (capture.counts || !accepted) return capture;
  const bool other_is_later = failures.latest && others.latest && *others.latest > *failures.latest;
  const bool needed_date_is_unreadable = failures.one_is_unreadable || others.one_is_unreadable;
  capture.needs_review = recaptures.known || other_is_later || needed_date_is_unreadable;
  return capture;
}

// An account that captures by itself captured what was authorized, less the failures that stand.
void take_off(const Fact& failure, const Figure& failed, Figure& captured) {
  std::int64_t highest = 0;
  for (const auto& seen : failure.observations)
    highest = std::max(highest, seen.amount.value_or(0));
  const auto left = [](std::int64_t whole, std::int64_t part) {
    return std::max<std::int64_t>(0, whole - part);
  };
  const bool is_decided = captured.is_decided() && failed.is_decided();
  captured.amount = is_decided ? Amount{left(*captured.amount, *failed.amount)} : std::nullopt;
  captured.at_least = left(captured.at_least, highest);
}

void add_captures(const std::vector<Fact>& facts, const FoldSettings& settings, Folded& folded) {
  if (settings.capture_immediate) folded.captured = folded.authorized;
  for (const auto& fact : facts) {
    if (fact.kind != fact_kind::kCapture) continue;
    const auto capture = judge_capture(fact);
    const auto amount = signed_amount(fact, [](const Observation& seen) {
      return seen.code == "CAPTURE" || seen.code == "CAPTURE_FAILED";
    });
    if (capture.needs_review || !amount.is_decided() || knows(fact, "SETTLED_REVERSED"))
      folded.needs_review = true;
    if (capture.has_failed) folded.milestones.emplace("capture_failed", fact.id);
    if (!settings.capture_immediate && capture.counts) folded.captured += amount;
    if (settings.capture_immediate && capture.failure_stands)
      take_off(fact, amount, folded.captured);
  }
}

void add_authorization(const Fact& fact, Folded& folded) {
  folded.is_authorized = knows_success(fact, "AUTHORISATION");
  folded.authorized = amount_of_success(fact, "AUTHORISATION");
  folded.is_failed = knows(fact, "AUTHORISATION") && !folded.is_authorized;
  // An offer that was closed and yet authorized was authorized.
  folded.is_expired =
      knows(fact, "EXPIRE") || (knows(fact, "OFFER_CLOSED") && !folded.is_authorized);
}

// The last adjustment is what is authorized. Its date is the first that was told of it: a repeat
// with a newer one is no newer adjustment. What the dates do not tell is not decided.
void add_adjustments(const std::vector<Fact>& facts, Folded& folded) {
  std::set<std::int64_t> all;
  std::set<std::int64_t> of_the_last;
  std::optional<std::int64_t> last;
  bool is_dated = true;
  bool is_decided = true;
  for (const auto& fact : facts) {
    if (fact.kind != fact_kind::kAdjustment) continue;
    std::optional<std::int64_t> first;
    for (const auto& seen : fact.observations) {
      if (is_success(seen, "AUTHORISATION_ADJUSTMENT") && seen.at)
        first = std::min(first.value_or(*seen.at), *seen.at);
    }
    if (!knows_success(fact, "AUTHORISATION_ADJUSTMENT")) continue;
    const auto amount = amount_of_success(fact, "AUTHORISATION_ADJUSTMENT");
    is_decided = is_decided && amount.is_decided();
    is_dated = is_dated && first.has_value();
    all.insert(amount.at_least);
    if (!first || (last && *first < *last)) continue;
    if (!last || *first > *last) of_the_last.clear();
    last = first;
    of_the_last.insert(amount.at_least);
  }
  if (all.empty()) return;
  folded.authorized = Figure::among(is_dated && is_decided ? of_the_last : all);
  if (!is_decided) folded.authorized.amount = std::nullopt;
}

void add_refund(const Fact& fact, Folded& folded) {
  const bool failed = knows_any(fact, {"REFUND_FAILED", "REFUNDED_REVERSED"});
  if (failed) folded.milestones.emplace("refund_failed", fact.id);
  if (failed || !knows_success(fact, "REFUND")) return;
  folded.milestones.emplace("refunded", fact.id);
  folded.refunded += amount_of_success(fact, "REFUND");
}

// CANCEL_OR_REFUND is what the money says it must have been: a refund of what was captured, if
// anything was. It never returns more than that, and all of it where it names no amount.
void add_cancel_or_refund(const Fact& fact, Folded& folded) {
  if (!knows_success(fact, "CANCEL_OR_REFUND")) return;
  const auto captured = folded.captured.at_least;
  if (captured == 0) {
    folded.is_canceled = true;
    return;
  }
  std::set<std::int64_t> readings;
  for (const auto& seen : fact.observations) {
    if (!is_success(seen, "CANCEL_OR_REFUND")) continue;
    const auto named = seen.amount.value_or(0);
    readings.insert(named == 0 ? captured : std::min(named, captured));
  }
  auto returned = Figure::among(readings);
  if (!folded.captured.is_decided()) returned.amount = std::nullopt;
  folded.refunded += returned;
  folded.milestones.emplace("refunded", fact.id);
}

// A dispute that named no payment but carries the payment's reference: the payment's only dispute,
// or one of its own if there is none; with several nobody can tell.
void add_disputes(const std::string& payment_id, const std::vector<Fact>& facts, Folded& folded) {
  std::vector<Fact> disputes;
  const Fact* unnamed = nullptr;
  for (const auto& fact : facts) {
    if (fact.kind != fact_kind::kDispute) continue;
    if (fact.id == payment_id) {
      unnamed = &fact;
    } else {
      disputes.push_back(fact);
    }
  }
  if (unnamed != nullptr && disputes.size() > 1) {
    folded.needs_review = true;
  } else if (unnamed != nullptr && disputes.size() == 1) {
    disputes.front().merge(*unnamed);
  } else if (unnamed != nullptr) {
    disputes.push_back(*unnamed);
  }
  for (const auto& fact : disputes) add_dispute(fact, judge_adyen_dispute(fact), folded);
}

}  // namespace

Folded fold_adyen(const std::string& payment_id, const std::vector<Fact>& facts,
                  const FoldSettings& settings) {
  Folded folded;
  for (const auto& fact : facts) {
    if (fact.kind == fact_kind::kAuthorization) add_authorization(fact, folded);
    if (contradicts_itself(fact)) folded.needs_review = true;
  }
  add_adjustments(facts, folded);
  add_captures(facts, settings, folded);
  for (const auto& fact : facts) {
    if (fact.kind == fact_kind::kRefund) add_refund(fact, folded);
    if (fact.kind == fact_kind::kCancelOrRefund) add_cancel_or_refund(fact, folded);
    if (knows_success(fact, "CANCELLATION") || knows_success(fact, "TECHNICAL_CANCEL"))
      folded.is_canceled = true;
  }
  add_disputes(payment_id, facts, folded);
  return folded;
}

}  // namespace hookgate
