#include "telemetry/log.h"

#include <algorithm>
#include <memory>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "domain/json.h"
#include "domain/text.h"

namespace hookgate {
namespace {

constexpr std::size_t kFieldBytesMax = 200;

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view{"_-.:/@+#[]*"}.find(c) != std::string_view::npos;
}

std::shared_ptr<spdlog::logger>& logger() {
  static auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("hookgate",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return instance;
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

LogField::LogField(std::string_view field_key, std::string_view text) : key(field_key) {
  const auto cut = clean_text(text, kFieldBytesMax);
  value = !cut.empty() && std::ranges::all_of(cut, is_plain) ? cut : quote_json(cut);
}

void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  const auto wanted = level_of(level);
  if (!logger()->should_log(wanted)) return;
  std::string line{message};
  for (const auto& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    line += field.value;
  }
  logger()->log(wanted, "{}", line);
}

void set_up_log(bool quiet) {
  logger()->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
}

}  // namespace hookgate
