#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hookgate {

// How many digits of an amount are after the point. Providers disagree with each other and with ISO
// 4217, so each has a table of its own and they are never shared. Unknown currencies have two.
int fraction_digits(std::string_view provider, std::string_view currency);

// An amount in the provider's minor units as a decimal: "10.99", "2790". Without a fraction when it
// is zero.
std::string decimal_amount(std::string_view provider, std::string_view currency,
                           std::int64_t minor_units);

}  // namespace hookgate
