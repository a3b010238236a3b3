#pragma once

#include <filesystem>
#include <iosfwd>

#include "domain/provider.h"
#include "domain/time.h"

namespace hookgate {

// Writes the fixture with the provider's fresh signature, as of `now`, to `out`. Throws
// FixtureError for a file that is no fixture, and what Provider::sign throws.
void write_signed_fixture(const std::filesystem::path& file, const Provider& provider,
                          SystemTime now, std::ostream& out);

}  // namespace hookgate
