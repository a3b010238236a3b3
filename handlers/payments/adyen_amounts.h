#pragma once

#include <functional>

#include "handlers/payments/fact.h"
#include "handlers/payments/figure.h"

namespace hookgate {

// The amount that the deliveries for which `counts` holds name. They are signed and of one thing:
// two amounts, or two currencies, decide nothing.
Figure signed_amount(const Fact& fact, const std::function<bool(const Observation&)>& counts);

// Whether deliveries of one identity name two signed amounts or currencies.
bool contradicts_itself(const Fact& fact);

}  // namespace hookgate
