#include "cli/value_reference.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "cli/commands.h"

namespace hookgate {

Secret resolve_secret(const std::string& reference) {
  std::string value = reference;
  if (reference.starts_with("env:")) {
    const char* found = std::getenv(reference.c_str() + 4);
    value = found == nullptr ? "" : found;
  } else if (reference.starts_with("file:")) {
    std::ifstream file{reference.substr(5), std::ios::binary};
    value.assign(std::istreambuf_iterator<char>{file}, {});
    value.erase(value.find_last_not_of("\r\n") + 1);
  }
  if (value.empty()) {
    const bool is_reference = reference.starts_with("env:") || reference.starts_with("file:");
    throw UsageError(
        "the secret " +
        (is_reference ? "'" + reference + "' names is missing or" : std::string{"is"}) + " empty");
  }
  return Secret{value};
}

}  // namespace hookgate
