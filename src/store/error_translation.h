#pragma once

#include <functional>

namespace hookgate {

// Runs `work` and turns the client library's exceptions into ours: StoreUnavailable for a session
// that is gone or a commit whose fate is unknown (repeating is safe only where a unique key makes
// it so), SqlError for the rest. Library types stay inside src/store.
void translate_errors(const std::function<void()>& work);

}  // namespace hookgate
