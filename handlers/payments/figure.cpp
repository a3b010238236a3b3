#include "handlers/payments/figure.h"

namespace hookgate {

Amount add(Amount a, Amount b) {
  std::int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

Figure Figure::among(const std::set<std::int64_t>& readings) {
  if (readings.empty()) return {};
  if (readings.size() == 1) return of(*readings.begin());
  return {std::nullopt, *readings.begin()};
}

Figure& Figure::operator+=(const Figure& other) {
  amount = add(amount, other.amount);
  at_least = add(at_least, other.at_least).value_or(std::numeric_limits<std::int64_t>::max());
  return *this;
}

}  // namespace hookgate
