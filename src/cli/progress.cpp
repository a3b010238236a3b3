#include "cli/progress.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include <unistd.h>

namespace hookgate {
namespace {

constexpr std::uint64_t kBarCells = 30;
constexpr auto kEraseLine = "\r\x1b[K";

}  // namespace

Progress::Progress(std::ostream& out, bool is_terminal, std::string label, std::uint64_t total,
                   SteadyClock clock)
    : is_terminal_(is_terminal),
      label_(std::move(label)),
      total_(total),
      clock_(std::move(clock)),
      started_(clock_()),
      out_(out),
      next_(started_ + (is_terminal ? kTerminalInterval : kPlainInterval)) {}

void Progress::update(std::uint64_t done) {
  update(done, std::nullopt);
}

void Progress::update(std::uint64_t done, double share) {
  update(done, std::optional<double>{share});
}

void Progress::update(std::uint64_t done, std::optional<double> share) {
  const std::lock_guard lock{mutex_};
  if (done < done_) return;
  done_ = done;
  share_ = share;
  const auto now = clock_();
  if (now < next_) return;
  next_ = now + (is_terminal_ ? kTerminalInterval : kPlainInterval);
  if (is_terminal_) {
    out_ << kEraseLine << line(now) << std::flush;
    bar_is_shown_ = true;
  } else {
    out_ << line(now) << std::endl;
  }
}

void Progress::finish() {
  const std::lock_guard lock{mutex_};
  if (bar_is_shown_) out_ << kEraseLine << std::flush;
  bar_is_shown_ = false;
}

std::string Progress::line(std::chrono::steady_clock::time_point now) const {
  const std::chrono::duration<double> elapsed = now - started_;
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(done_) / elapsed.count());
  const auto per_second = ", " + std::to_string(rate) + "/s";
  if (total_ == 0 && !share_) return label_ + ": " + std::to_string(done_) + per_second;
  const auto fraction =
      share_ ? std::clamp(*share_, 0.0, 1.0)
             : static_cast<double>(std::min(done_, total_)) / static_cast<double>(total_);
  std::string text = label_;
  if (is_terminal_) {
    const auto filled = static_cast<std::size_t>(fraction * kBarCells);
    text += " [" + std::string(filled, '#') + std::string(kBarCells - filled, ' ') + "] ";
  } else {
    text += ": ";
  }
  text += std::to_string(done_);
  if (total_ != 0) text += " of " + std::to_string(total_);
  return text + " (" + std::to_string(static_cast<int>(fraction * 100)) + " %)" + per_second;
}

bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

}  // namespace hookgate
