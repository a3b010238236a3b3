#pragma once

#include <initializer_list>
#include <string_view>

#include "handlers/payments/fact.h"
#include "handlers/payments/payment_state.h"

namespace hookgate {

// Where a dispute stands.
struct Dispute {
  enum class Stage { kNone, kOpen, kWon, kLost };
  Stage stage = Stage::kNone;  // kNone: nothing but words so far
  bool money_is_out = false;
  Figure amount;
  bool needs_review = false;
};

// Pure; `fact` is all that is known of one dispute.
Dispute judge_stripe_dispute(const Fact& fact);
Dispute judge_adyen_dispute(const Fact& fact);

// What the dispute means for its payment.
void add_dispute(const Fact& fact, const Dispute& dispute, Folded& folded);

// Whether some event of that code (of any of these codes) is known.
bool knows(const Fact& fact, std::string_view code);
bool knows_any(const Fact& fact, std::initializer_list<std::string_view> codes);

}  // namespace hookgate
