#include "config_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "config.h"
#include "domain/text.h"

namespace hookgate {

namespace {

constexpr std::size_t kShownBytesMax = 80;
constexpr std::size_t kShownPathBytesMax = 4096;

// Messages are one line, whatever stands in the file or in its name.
std::string without_control_characters(std::string text) {
  const auto is_control = [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return code < 0x20 || code == 0x7f;
  };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

FileUnreadable last_error() {
  return {std::generic_category().message(errno)};
}

}  // namespace

std::string ConfigFile::where(ConfigPosition at) const {
  const auto name = without_control_characters(clean_text(path.string(), kShownPathBytesMax));
  return name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
}

void ConfigFile::fail(ConfigPosition at, std::string_view text) const {
  throw ConfigError{where(at) + std::string{text}};
}

std::filesystem::path ConfigFile::resolve(std::string_view written) const {
  return path.parent_path() / std::filesystem::path{written};
}

std::variant<std::string, FileUnreadable> read_whole_file(const std::filesystem::path& path,
                                                          std::size_t bytes_max) {
  errno = 0;
  const std::unique_ptr<std::FILE, FileCloser> file{std::fopen(path.c_str(), "rbe")};
  if (!file) return last_error();
  std::string content;
  std::array<char, 4096> part{};
  while (const auto count = std::fread(part.data(), 1, part.size(), file.get())) {
    content.append(part.data(), count);
    if (content.size() > bytes_max)
      return FileUnreadable{"it is larger than " + std::to_string(bytes_max) + " bytes"};
  }
  if (std::ferror(file.get()) != 0) return last_error();
  return content;
}

std::variant<std::string, FileUnreadable> read_named_file(const std::filesystem::path& path,
                                                          std::size_t bytes_max) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_other(status)) return FileUnreadable{"it is not a regular file"};
  return read_whole_file(path, bytes_max);  // tells a folder or a missing file in its own words
}

std::string in_quotes(std::string_view text, char quote) {
  auto shown = without_control_characters(clean_text(text, kShownBytesMax));
  if (text.size() > kShownBytesMax) shown += "...";
  return quote + shown + quote;
}

}  // namespace hookgate
