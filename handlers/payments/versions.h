#pragma once

#include "domain/event.h"
#include "handlers/payments/extraction.h"

namespace hookgate {

// What all bodies of an event say together. Of two Adyen items both count: newer details do, and of
// two signed amounts neither does (the fold sees the contradiction). Of two Stripe bodies the first
// counts, and a fact `contradiction` flags its payment. Pure.
Extraction extract_all(const Event& event);

}  // namespace hookgate
