#pragma once

#include <stdexcept>

namespace hookgate {

// The crypto library itself failed (no memory, an algorithm taken away by its configuration). Never
// the answer to a wrong signature: the request may be tried again.
class CryptoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hookgate
