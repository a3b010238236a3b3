#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

namespace hookgate {

// A place in the file, both from 1; columns count characters.
struct ConfigPosition {
  std::size_t line = 1;
  std::size_t column = 1;
};

// The file being read: where its messages point and where relative paths start.
struct ConfigFile {
  std::filesystem::path path;

  // "hookgate.toml:12:3: "
  std::string where(ConfigPosition at) const;
  // Throws ConfigError with the position and `text` in one line.
  [[noreturn]] void fail(ConfigPosition at, std::string_view text) const;
  // A path written in the file, taken from the file's own folder unless it is absolute.
  std::filesystem::path resolve(std::string_view written) const;
};

// Why a file could not be read, for the end of a sentence: "No such file or directory".
struct FileUnreadable {
  std::string reason;
};

// The whole content of a file of at most `bytes_max` bytes. Never throws for a bad file.
std::variant<std::string, FileUnreadable> read_whole_file(const std::filesystem::path& path,
                                                          std::size_t bytes_max);

// The same for files that a value names. Refused unopened is what could keep us waiting or acts
// when it is opened: a device, a pipe, a socket.
std::variant<std::string, FileUnreadable> read_named_file(const std::filesystem::path& path,
                                                          std::size_t bytes_max);

// `text` between two `quote`s for a message: control characters become '?', invalid UTF-8 U+FFFD,
// and what is longer than 80 bytes is cut.
std::string in_quotes(std::string_view text, char quote = '"');

}  // namespace hookgate
