#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config.h"
#include "fuzz_target.h"
#include "providers/registry.h"

// Any text as a configuration. Either it is taken, and then every source can judge requests, or a
// ConfigError says in one line what is wrong, without a word of what env: and file: brought.

namespace {

// What env:FUZZ and file: bring. Of one length and kind, so that no message need tell them apart.
constexpr std::string_view kReferenced[] = {"INVENTED-never-shown-abcdef",
                                            "INVENTED-never-shown-ghijkl"};
std::string referenced;
bool reads_config = false;

}  // namespace

// The linker puts this in the place of fopen (--wrap): no file is read, whatever path an input
// names. A path with an x is not there; any other holds what is referenced. The fuzzer's own
// reports are still written.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
std::FILE* __real_fopen(const char* path, const char* mode);
std::FILE* __wrap_fopen(const char* path, const char* mode);

std::FILE* __wrap_fopen(const char* path, const char* mode) {
  if (!reads_config || *mode != 'r') return __real_fopen(path, mode);
  if (std::string_view{path}.find('x') != std::string_view::npos) {
    errno = ENOENT;
    return nullptr;
  }
  return fmemopen(referenced.data(), referenced.size(), "r");
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
}

namespace hookgate {
namespace {

void check_config(const Config& config) {
  for (const auto& source : config.sources) {
    require(make_provider(source.provider, source.settings) != nullptr, "a source has a provider");
    require(!source.name.empty(), "a source has a name");
  }
  require(config.server.max_body_bytes > 0, "a body has room");
  require(config.server.request_timeout.count() > 0, "a request has time");
}

void check_message(std::string_view message) {
  require(message.starts_with("fuzz.toml:"), "a message says where");
  require(message.find_first_of("\r\n\x1B") == std::string_view::npos, "a message is one line");
}

// All that is said about the text.
std::string messages_of(std::string_view text, std::string_view brought) {
  referenced = brought;
  require(setenv("FUZZ", referenced.c_str(), 1) == 0, "the environment can be set");
  std::string messages;
  reads_config = true;
  try {
    const auto config = parse_config(text, "fuzz.toml");
    for (const auto& warning : config.warnings) {
      check_message(warning);
      messages += warning + "\n";
    }
    check_config(config);
  } catch (const ConfigError& error) {
    check_message(error.what());
    messages = error.what();
  }
  reads_config = false;
  return messages;
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  require(messages_of(bytes, kReferenced[0]) == messages_of(bytes, kReferenced[1]),
          "a message tells nothing of what env: and file: brought");
}

}  // namespace hookgate
