#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "handlers/payments/fact.h"
#include "handlers/payments/figure.h"

namespace hookgate {

// What the charges and the intent of a Stripe payment say of money.
struct StripeMoney {
  std::int64_t authorized = 0;          // A: highest amount authorized
  std::int64_t captured = 0;            // C: highest amount captured
  std::int64_t refunded_by_charge = 0;  // F: highest running total of a charge snapshot
  bool is_over = false;                 // released, canceled or expired
};

// What is known of one refund object.
struct StripeRefund {
  std::string id;
  std::int64_t amount = 0;
  bool is_failed = false;  // or canceled
  bool has_users_reason = false;
  bool is_expired_uncaptured = false;   // Stripe's own reason for a release
  std::optional<std::int64_t> made_at;  // microseconds since 1970
};

struct StripeRefunded {
  Figure refunded;
  std::string release;  // the refund object that is the released rest and no refund; "" for none
};

// What was refunded of a payment. When only a part of the authorized amount is captured the rest is
// released, and depending on the API version that looks like a refund or not: amounts that rule one
// reading out decide, then timing and version; what stays open is not guessed. Pure.
StripeRefunded judge_refunds(const std::vector<Fact>& facts, const StripeMoney& money,
                             const std::vector<StripeRefund>& refunds);

}  // namespace hookgate
