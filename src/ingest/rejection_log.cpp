#include "ingest/rejection_log.h"

#include <algorithm>

namespace hookgate {
namespace {

constexpr std::string_view kSeveral = "several";  // the key of what is past kKeysMax

void write_warning(std::string_view message, std::initializer_list<LogField> fields) {
  log(LogLevel::kWarn, message, fields);
}

}  // namespace

RejectionLog::RejectionLog() : RejectionLog(write_warning) {}
RejectionLog::RejectionLog(Write write) : write_(std::move(write)) {}

void RejectionLog::add(const Rejection& rejection, Time now) {
  std::vector<Summary> summaries;
  bool is_in_full = false;
  {
    const std::scoped_lock lock{mutex_};
    if (now >= first_end_) summaries = end_windows(now);
    auto& window = window_of(rejection, now);
    ++window.seen;
    is_in_full = window.left_out() == 0;
  }
  write(summaries);
  if (!is_in_full) return;
  write_("request refused", {{"source", rejection.source},
                             {"reason", rejection.reason},
                             {"detail", rejection.detail},
                             {"remote", rejection.remote},
                             {"bytes", rejection.body_bytes}});
}

void RejectionLog::flush() {
  std::vector<Summary> summaries;
  {
    const std::scoped_lock lock{mutex_};
    summaries = end_windows(Time::max());
  }
  write(summaries);
}

RejectionLog::Window& RejectionLog::window_of(const Rejection& rejection, Time now) {
  std::pair<std::string_view, std::string_view> key{rejection.source, rejection.reason};
  auto found = windows_.find(key);
  if (found == windows_.end() && windows_.size() >= kKeysMax) {
    key = {kSeveral, kSeveral};
    found = windows_.find(key);
  }
  if (found == windows_.end()) {
    found = windows_.emplace(Key{key.first, key.second}, Window{.began = now}).first;
    first_end_ = std::min(first_end_, now + kWindow);
  }
  return found->second;
}

// Forgets the windows that are over, so that what comes next begins new ones.
std::vector<RejectionLog::Summary> RejectionLog::end_windows(Time now) {
  std::vector<Summary> summaries;
  first_end_ = Time::max();
  for (auto entry = windows_.begin(); entry != windows_.end();) {
    const auto& window = entry->second;
    if (now < window.began + kWindow) {
      first_end_ = std::min(first_end_, window.began + kWindow);
      ++entry;
      continue;
    }
    if (window.left_out() > 0) summaries.push_back({entry->first, window.left_out()});
    entry = windows_.erase(entry);
  }
  return summaries;
}

void RejectionLog::write(const std::vector<Summary>& summaries) const {
  for (const auto& summary : summaries) {
    write_("more requests refused", {{"source", summary.key.first},
                                     {"reason", summary.key.second},
                                     {"left_out", summary.left_out}});
  }
}

}  // namespace hookgate
