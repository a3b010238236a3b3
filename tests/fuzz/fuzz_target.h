#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace hookgate {

// What a target does with one input. A broken promise ends the process, which the fuzzer and the
// corpus test both take for a finding.
void fuzz_one(std::string_view bytes);

inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

// Takes choices from the front of an input; zeros when it is used up.
class FuzzChoices {
 public:
  explicit FuzzChoices(std::string_view bytes) : left_(bytes) {}

  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const auto taken = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return taken;
  }
  std::string_view take(std::size_t count) {
    const auto taken = left_.substr(0, count);
    left_.remove_prefix(taken.size());
    return taken;
  }
  // Up to the next line end, which is dropped.
  std::string_view line() {
    const auto end = std::min(left_.find('\n'), left_.size());
    const auto taken = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    return taken;
  }
  std::string_view rest() const { return left_; }

 private:
  std::string_view left_;
};

}  // namespace hookgate
