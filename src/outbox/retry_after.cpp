#include "outbox/retry_after.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <string>

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kValueBytesMax = 64;
constexpr std::array<const char*, 3> kDateForms{
    "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"};

// The program keeps the "C" locale, so that names of days and months are English.
std::optional<SystemTime> parse_http_date(const std::string& text) {
  for (const auto* form : kDateForms) {
    std::tm parts{};
    const char* const end = ::strptime(text.c_str(), form, &parts);
    if (end == nullptr || *end != '\0') continue;
    return SystemTime{seconds{::timegm(&parts)}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<milliseconds> parse_retry_after(std::string_view value, SystemTime now,
                                              milliseconds most) {
  while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
  while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
  if (value.empty() || value.size() > kValueBytesMax) return std::nullopt;
  if (std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; })) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const auto limit = std::chrono::duration_cast<seconds>(most).count();
    if (error != std::errc{} || number > limit) return most;
    return seconds{number};
  }
  const auto date = parse_http_date(std::string{value});
  if (!date) return std::nullopt;
  const auto wait = std::chrono::ceil<milliseconds>(*date - now);
  return std::clamp(wait, milliseconds{0}, most);
}

}  // namespace hookgate
