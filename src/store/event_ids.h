#pragma once

#include <cstdint>

#include "store/connection.h"

namespace hookgate {

// Hands out numbers for rows of hookgate.events, which it takes from the sequence in blocks. One
// thread at a time.
class EventIds {
 public:
  // Throws what the client library throws.
  std::int64_t next(Connection& connection);

 private:
  std::int64_t next_ = 0;
  std::int64_t last_ = -1;
};

}  // namespace hookgate
