#include "handlers/payments/money.h"

#include <algorithm>
#include <cctype>

namespace hookgate {
namespace {

bool is_in(std::string_view list, std::string_view currency) {
  // Codes have three letters and are parted by blanks.
  const bool is_code = currency.size() == 3 && currency.find(' ') == std::string_view::npos;
  return is_code && list.find(currency) != std::string_view::npos;
}

// Stripe: ISK and UGX have no fraction any more but keep two digits that are 00.
constexpr std::string_view kStripeNone =
    "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF";
constexpr std::string_view kStripeThree = "BHD JOD KWD OMR TND";
// Adyen: differs from ISO 4217 for CLP and ISK (two) and CVE and IDR (none).
constexpr std::string_view kAdyenNone =
    "CVE DJF GNF IDR JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF";
constexpr std::string_view kAdyenThree = "BHD IQD JOD KWD LYD OMR TND";

}  // namespace

int fraction_digits(std::string_view provider, std::string_view currency) {
  std::string upper;
  for (const char c : currency)
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const bool is_adyen = provider == "adyen";
  if (is_in(is_adyen ? kAdyenNone : kStripeNone, upper)) return 0;
  return is_in(is_adyen ? kAdyenThree : kStripeThree, upper) ? 3 : 2;
}

std::string decimal_amount(std::string_view provider, std::string_view currency,
                           std::int64_t minor_units) {
  const auto digits = static_cast<std::size_t>(fraction_digits(provider, currency));
  auto text = std::to_string(minor_units);
  const std::string sign = text.starts_with('-') ? "-" : "";
  text.erase(0, sign.size());
  if (text.size() <= digits) text.insert(0, digits + 1 - text.size(), '0');
  const auto whole = text.substr(0, text.size() - digits);
  const auto fraction = text.substr(text.size() - digits);
  if (std::ranges::all_of(fraction, [](char c) { return c == '0'; })) return sign + whole;
  return sign + whole + "." + fraction;
}

}  // namespace hookgate
