#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hookgate {

// A body as it may have been before something on its way changed it.
struct BodyVariant {
  std::string body;
  std::string change;  // what was done to it since: "a newline was added at its end"
};

// The likely originals of `body`, the simplest changes first: newlines and byte order marks put on
// or taken off, line ends converted, and, if it is JSON, the ways common libraries write JSON. None
// equals `body`. Numbers and the order of members are kept as they are.
std::vector<BodyVariant> body_variants(std::string_view body);

}  // namespace hookgate
