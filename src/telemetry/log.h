#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace hookgate {

enum class LogLevel { kInfo, kWarn, kError };

// One `key=value` of a log line. Strings that hold anything but plain characters are quoted,
// escaped and cut to 200 bytes, so that outside text cannot forge a line.
struct LogField {
  LogField(std::string_view field_key, std::string_view text);
  LogField(std::string_view field_key, const char* text)
      : LogField(field_key, std::string_view{text}) {}
  LogField(std::string_view field_key, const std::string& text)
      : LogField(field_key, std::string_view{text}) {}
  LogField(std::string_view field_key, bool flag)
      : key(field_key), value(flag ? "true" : "false") {}
  template <typename Number>
  requires std::is_arithmetic_v<Number> LogField(std::string_view field_key, Number number)
      : key(field_key), value(fmt::format("{}", number)) {}

  std::string_view key;
  std::string value;
};

// Writes one line to stderr: time, level, a constant message, then the fields. Any thread.
// info: state changed; warn: someone should look; error: someone must act.
void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

// Call before the first thread starts. `quiet` keeps only warnings and errors.
void set_up_log(bool quiet);

}  // namespace hookgate
