#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hookgate {

bool is_valid_utf8(std::string_view bytes);

// What may enter a PostgreSQL `text` column: invalid UTF-8 and NUL become U+FFFD, the rest is kept,
// cut to at most `bytes_max` bytes between two characters.
std::string clean_text(std::string_view bytes, std::size_t bytes_max = 1024);

}  // namespace hookgate
