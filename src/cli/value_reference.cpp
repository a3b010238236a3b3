#include "cli/value_reference.h"

#include <cstdlib>
#include <variant>

#include "cli/commands.h"
#include "config_file.h"

namespace hookgate {
namespace {

constexpr std::size_t kSecretFileBytesMax = 64UL * 1024;

}  // namespace

Secret resolve_secret(const std::string& reference) {
  std::string value = reference;
  if (reference.starts_with("env:")) {
    const char* found = std::getenv(reference.c_str() + 4);
    value = found == nullptr ? "" : found;
  } else if (reference.starts_with("file:")) {
    const auto read = read_named_file(reference.substr(5), kSecretFileBytesMax);
    if (const auto* unreadable = std::get_if<FileUnreadable>(&read))
      throw UsageError("the secret '" + reference + "' cannot be read: " + unreadable->reason);
    value = std::get<std::string>(read);
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
