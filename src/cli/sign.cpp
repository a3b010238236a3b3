#include "cli/sign.h"

#include <ostream>

#include "cli/fixture_file.h"

namespace hookgate {

void write_signed_fixture(const std::filesystem::path& file, const Provider& provider,
                          SystemTime now, std::ostream& out) {
  auto request = read_fixture(file);
  provider.sign(request, now);
  out << format_fixture(request) << std::flush;
}

}  // namespace hookgate
