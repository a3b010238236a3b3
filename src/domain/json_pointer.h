#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/json.h"

namespace hookgate {

// A JSON Pointer (RFC 6901): where in a document a value is.
class JsonPointer {
 public:
  // "" for the whole document, else '/' before every name or index, '~0' for '~' and '~1' for '/'.
  // Nothing for a text that is no pointer.
  static std::optional<JsonPointer> parse(std::string_view text);

  // Nothing where the document has no such member or element. A doubled name is its last one.
  std::optional<Json> find(const Json& root) const;

 private:
  std::vector<std::string> tokens_;
};

}  // namespace hookgate
