#pragma once

#include <string_view>

namespace hookgate {

// Whether both hold the same bytes. The time taken tells their lengths and nothing of their
// content.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace hookgate
