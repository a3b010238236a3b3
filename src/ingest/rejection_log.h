#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "telemetry/log.h"

namespace hookgate {

// A request that was refused, as the log tells it.
struct Rejection {
  std::string_view source;  // "" when it named none of ours
  std::string_view reason;  // a code
  std::string_view detail{};
  std::string_view remote{};  // the client's address, "" when unknown
  std::size_t body_bytes = 0;
};

// Writes refused requests to the log, but not a flood of them: of each source and reason the first
// 5 in 10 seconds in full, and once these are over one line with the number left out. That line is
// written with the next refused request of any kind, or by flush(). Every method from any thread.
class RejectionLog {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Write =
      std::function<void(std::string_view message, std::initializer_list<LogField> fields)>;

  static constexpr std::size_t kFullMax = 5;
  static constexpr std::chrono::seconds kWindow{10};
  // Sources and reasons told apart; those past it share one window. Both are closed sets, so this
  // is only the last line of defence.
  static constexpr std::size_t kKeysMax = 1'024;

  // By default warnings to the log of the process.
  RejectionLog();
  explicit RejectionLog(Write write);

  void add(const Rejection& rejection, Time now);
  // The number left out so far of all windows, which end with it.
  void flush();

 private:
  struct Window {
    Time began;
    std::size_t seen = 0;
    std::size_t left_out() const { return seen > kFullMax ? seen - kFullMax : 0; }
  };
  using Key = std::pair<std::string, std::string>;  // source, reason
  struct KeyLess {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): std::map looks for it
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      const int by_source = std::string_view{a.first}.compare(b.first);
      return by_source != 0 ? by_source < 0 : std::string_view{a.second} < b.second;
    }
  };
  struct Summary {
    Key key;
    std::size_t left_out = 0;
  };

  Window& window_of(const Rejection& rejection, Time now);
  std::vector<Summary> end_windows(Time now);
  void write(const std::vector<Summary>& summaries) const;

  const Write write_;
  std::mutex mutex_;
  std::map<Key, Window, KeyLess> windows_;  // guarded by mutex_; those that are not over
  Time first_end_ = Time::max();            // guarded by mutex_; when the first of them is over
};

}  // namespace hookgate
