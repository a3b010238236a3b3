#pragma once

#include <string>
#include <utility>

namespace hookgate {

// A key or password. It has no formatter and no stream operator, so that printing one does not
// compile; `reveal` is the only way out and is called where bytes are signed or compared.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }
  bool operator==(const Secret&) const = default;

 private:
  std::string value_;
};

}  // namespace hookgate
