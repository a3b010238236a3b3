#pragma once

#include <string>

#include "domain/secret.h"

namespace hookgate {

// The secret an option names: "env:NAME", "file:PATH" (trailing newlines trimmed), or the text
// itself. A secret typed as an argument can be seen by others in the process list; the first two
// forms cannot. Throws UsageError when there is none or it is empty.
Secret resolve_secret(const std::string& reference);

}  // namespace hookgate
