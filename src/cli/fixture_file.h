#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "domain/http_message.h"

namespace hookgate {

inline constexpr std::size_t kFixtureHeadBytesMax = std::size_t{64} * 1024;
inline constexpr std::size_t kFixtureHeadersMax = 200;
inline constexpr std::size_t kFixtureBodyBytesMax = std::size_t{64} * 1024 * 1024;

// A fixture cannot be read; `what()` is one line: `fixtures/a.http:3: a header without ':'`, or
// `fixtures/a.http: no such file or folder`.
class FixtureError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads a captured request: request line, headers, empty line, and as the body every byte that is
// left, untouched. Lines of the head end in CRLF or LF. Content-Length and Transfer-Encoding are
// left out: they told of the connection, the length is that of the body. `name` stands in messages
// for the file. Throws FixtureError.
InboundRequest parse_fixture(std::string_view bytes, const std::string& name);

// The same from a file. Throws FixtureError, also when it cannot be opened.
InboundRequest read_fixture(const std::filesystem::path& file);

// The inverse: a head with CRLF line ends and a right Content-Length, then the body's bytes. Line
// breaks and NUL inside the head become blanks, so that what comes out can be read again.
std::string format_fixture(const InboundRequest& request);

// The files to read for `paths`: a file as given, of a folder all *.http below it, sorted by path.
// The order of `paths` is kept. Throws FixtureError naming a path that is not there, or a folder
// without fixtures.
std::vector<std::filesystem::path> find_fixtures(const std::vector<std::filesystem::path>& paths);

}  // namespace hookgate
