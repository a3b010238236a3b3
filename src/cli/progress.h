#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <string>

namespace hookgate {

// Tells a person how far long work is: a bar redrawn in place on a terminal, a plain line now and
// then elsewhere. It has no thread: it writes inside `update`, at most once per interval. Work that
// ends within the first interval prints nothing. Any thread may call `update`.
class Progress {
 public:
  using SteadyClock = std::function<std::chrono::steady_clock::time_point()>;

  static constexpr std::chrono::milliseconds kTerminalInterval{100};
  static constexpr std::chrono::milliseconds kPlainInterval{5'000};

  // `out` outlives the object. `total` 0: how much there is to do is not known.
  Progress(std::ostream& out, bool is_terminal, std::string label, std::uint64_t total,
           SteadyClock clock = std::chrono::steady_clock::now);

  // `done` of the total are done. An older figure than the last one shown is passed over.
  void update(std::uint64_t done);
  // The same for work that ends by something else than its count: `share` of it, from 0 to 1, is
  // behind us.
  void update(std::uint64_t done, double share);
  // Takes the bar off the terminal, so that the results can follow. Call it once, at the end.
  void finish();

 private:
  void update(std::uint64_t done, std::optional<double> share);
  std::string line(std::chrono::steady_clock::time_point now) const;

  const bool is_terminal_;
  const std::string label_;
  const std::uint64_t total_;
  const SteadyClock clock_;
  const std::chrono::steady_clock::time_point started_;

  std::mutex mutex_;  // guards what follows
  std::ostream& out_;
  std::uint64_t done_ = 0;
  std::optional<double> share_;  // where it was given
  std::chrono::steady_clock::time_point next_;
  bool bar_is_shown_ = false;
};

// Whether stderr, where progress goes, is a terminal.
bool stderr_is_terminal();

}  // namespace hookgate
