#include "domain/time.h"

#include <array>
#include <cstdio>

namespace hookgate {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads exactly `count` digits at the front and drops them.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<microseconds> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return microseconds{0};
  long long value = 0;
  int digits = 0;
  while (!text.empty() && is_digit(text.front())) {
    if (digits < 6) value = value * 10 + (text.front() - '0');
    if (digits < 6) ++digits;
    text.remove_prefix(1);
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 6; ++digits) value *= 10;
  return microseconds{value};
}

// Seconds to take off the local time to get UTC.
std::optional<seconds> take_offset(std::string_view& text) {
  if (text == "Z" || text == "z") {
    text.remove_prefix(1);
    return seconds{0};
  }
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '+' ? 1 : -1;
  text.remove_prefix(1);
  const auto hours = take_digits(text, 2);
  if (!hours) return std::nullopt;
  take(text, ':');
  const auto minutes = take_digits(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return seconds{sign * (*hours * 3600 + *minutes * 60)};
}

}  // namespace

SystemTime system_now() {
  return std::chrono::time_point_cast<microseconds>(std::chrono::system_clock::now());
}

std::optional<SystemTime> parse_unix_seconds(std::string_view text) {
  constexpr std::size_t kDigitsMax = 12;
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  long long value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return SystemTime{seconds{value}};
}

std::optional<SystemTime> parse_instant(std::string_view text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day || (!take(text, 'T') && !take(text, 't') && !take(text, ' '))) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;

  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return SystemTime{std::chrono::sys_days{date}} + std::chrono::hours{*hour} +
         std::chrono::minutes{*minute} + seconds{*second} + *fraction - *offset;
}

std::string format_instant(SystemTime instant) {
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{instant - day};
  std::array<char, 64> text{};
  const auto micros = static_cast<int>(time.subseconds().count());
  const int written = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
      static_cast<int>(time.seconds().count()));
  std::string result(text.data(), static_cast<std::size_t>(written));
  if (micros != 0) {
    std::snprintf(text.data(), text.size(), ".%06d", micros);
    result += text.data();
  }
  return result + "Z";
}

long long unix_seconds(SystemTime instant) {
  return std::chrono::floor<seconds>(instant).time_since_epoch().count();
}

}  // namespace hookgate
