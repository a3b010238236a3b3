#pragma once

#include <string_view>

namespace hookgate {

// Whether all of `text` fits `pattern`: '*' stands for any bytes or none, '?' for one byte, all
// else for itself. Takes at most pattern.size() * text.size() steps, whatever the pattern.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace hookgate
