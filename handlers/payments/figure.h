#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>

namespace hookgate {

// An amount in the provider's minor units; nothing means that the facts do not decide it.
using Amount = std::optional<std::int64_t>;

// A sum that says nothing rather than something wrong: nothing when either is, or on overflow.
Amount add(Amount a, Amount b);

// One figure of a payment with its lowest reading, which the status goes by where the facts do not
// decide the figure.
struct Figure {
  Amount amount = 0;
  std::int64_t at_least = 0;

  // Decided by one reading (or none: then 0), open between several.
  static Figure among(const std::set<std::int64_t>& readings);
  static Figure of(std::int64_t amount) { return {amount, amount}; }
  bool is_decided() const { return amount.has_value(); }
  // The lowest reading of a sum that overflows is the greatest number.
  Figure& operator+=(const Figure& other);
};

}  // namespace hookgate
