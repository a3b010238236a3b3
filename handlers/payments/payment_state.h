#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "handlers/payments/fact.h"
#include "handlers/payments/figure.h"

namespace hookgate {

// Milestones reached, each with the fact that reached it.
using Milestones = std::set<std::pair<std::string, std::string>>;

// One payment, as its row in hookgate.payments says.
struct PaymentState {
  std::string status = "pending";
  std::string reference;
  std::string currency;
  Amount authorized = 0;
  Amount captured = 0;
  Amount refunded = 0;
  Amount disputed = 0;
  bool over_returned = false;
  bool needs_review = false;
  std::optional<std::int64_t> first_event_at, last_event_at;  // microseconds since 1970
  Milestones milestones;
  // Has or holds the customer's money: two such payments on one reference are a duplicate payment.
  bool is_live() const {
    return status != "pending" && status != "failed" && status != "canceled" && status != "expired";
  }
};

struct FoldSettings {
  bool capture_immediate = false;  // Adyen: a successful AUTHORISATION counts as captured
};

// The payment that follows from what is known of it: pure, and blind to the order in which it
// became known. `payment_id` is the key the facts hang on.
PaymentState fold(std::string_view provider, const std::string& payment_id,
                  const std::vector<Fact>& facts, const FoldSettings& settings);

// The parts of `fold` that differ by provider: figures, dispute stage, and what ended the payment.
struct Folded {
  Figure authorized, captured, refunded, disputed;
  bool needs_review = false;
  bool is_authorized = false;
  bool is_canceled = false;
  bool is_expired = false;
  bool is_failed = false;
  bool dispute_open = false;
  bool dispute_lost = false;
  Milestones milestones;
};

Folded fold_stripe(const std::vector<Fact>& facts);
Folded fold_adyen(const std::string& payment_id, const std::vector<Fact>& facts,
                  const FoldSettings& settings);

}  // namespace hookgate
