#include "cli/fixture_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace hookgate {
namespace {

constexpr std::string_view kExtension = ".http";
constexpr std::string_view kBlanks = " \t";

bool tells_of_the_connection(std::string_view name) {
  return equal_ignoring_case(name, "Content-Length") ||
         equal_ignoring_case(name, "Transfer-Encoding");
}

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Takes lines off the front of a file and counts them.
class HeadReader {
 public:
  HeadReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  // The next line without its end. Throws when the file or the head's limit ends first.
  std::string_view next_line() {
    ++line_;
    const auto end = bytes_.find('\n', position_);
    const auto past = end == std::string_view::npos ? bytes_.size() : end;
    if (past > kFixtureHeadBytesMax) {
      fail("the head is longer than " + std::to_string(kFixtureHeadBytesMax) + " bytes");
    }
    if (end == std::string_view::npos)
      fail("the file ends before the empty line after the headers");
    auto line = bytes_.substr(position_, end - position_);
    position_ = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto is_stray = [](char c) { return c == '\r' || c == '\0'; };
    if (std::ranges::any_of(line, is_stray)) fail("a carriage return or NUL inside a line");
    return line;
  }

  std::string_view rest() const { return bytes_.substr(position_); }

  [[noreturn]] void fail(const std::string& problem) const {
    throw FixtureError(name_ + ":" + std::to_string(line_) + ": " + problem);
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
  std::size_t position_ = 0;
  int line_ = 0;
};

void read_request_line(HeadReader& head, InboundRequest& request) {
  const auto line = head.next_line();
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last ||
      !line.substr(last + 1).starts_with("HTTP/")) {
    head.fail("the request line is not like 'POST /webhooks/stripe HTTP/1.1'");
  }
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, last - first - 1);
  if (!is_token(request.method)) head.fail("the method is not a word");
  if (!request.target.starts_with('/') ||
      request.target.find_first_of(kBlanks) != std::string::npos) {
    head.fail("the target is not a path without blanks");
  }
}

void read_headers(HeadReader& head, InboundRequest& request) {
  for (auto line = head.next_line(); !line.empty(); line = head.next_line()) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) head.fail("a header without ':'");
    const auto name = line.substr(0, colon);
    if (!is_token(name)) head.fail("the name of a header is not a word");
    if (request.headers.size() == kFixtureHeadersMax) {
      head.fail("more than " + std::to_string(kFixtureHeadersMax) + " headers");
    }
    if (tells_of_the_connection(name)) continue;
    request.headers.push_back({std::string{name}, std::string{trim(line.substr(colon + 1))}});
  }
}

void append_in_one_line(std::string& out, std::string_view text) {
  std::ranges::transform(text, std::back_inserter(out),
                         [](char c) { return c == '\r' || c == '\n' || c == '\0' ? ' ' : c; });
}

void find_below(const std::filesystem::path& folder, std::vector<std::filesystem::path>& files) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
    if (entry.is_regular_file() && entry.path().extension() == kExtension) {
      found.push_back(entry.path());
    }
  }
  if (found.empty()) throw FixtureError(folder.string() + ": no *.http file below this folder");
  std::ranges::sort(found);
  files.insert(files.end(), found.begin(), found.end());
}

}  // namespace

InboundRequest parse_fixture(std::string_view bytes, const std::string& name) {
  InboundRequest request;
  HeadReader head{bytes, name};
  read_request_line(head, request);
  read_headers(head, request);
  if (head.rest().size() > kFixtureBodyBytesMax) {
    head.fail("the body is longer than " + std::to_string(kFixtureBodyBytesMax) + " bytes");
  }
  request.body = head.rest();
  return request;
}

InboundRequest read_fixture(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (error) throw FixtureError(file.string() + ": " + error.message());
  if (size > kFixtureHeadBytesMax + kFixtureBodyBytesMax) {
    throw FixtureError(file.string() + ": the file is too large for a fixture");
  }
  std::ifstream in{file, std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
  if (!in) throw FixtureError(file.string() + ": cannot be read");
  return parse_fixture(bytes, file.string());
}

std::string format_fixture(const InboundRequest& request) {
  std::string out;
  append_in_one_line(out, request.method + " " + request.target + " HTTP/1.1");
  out += "\r\n";
  for (const auto& header : request.headers) {
    if (tells_of_the_connection(header.name)) continue;
    append_in_one_line(out, header.name + ": " + header.value);
    out += "\r\n";
  }
  return out + "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" + request.body;
}

std::vector<std::filesystem::path> find_fixtures(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
      throw FixtureError(path.string() + ": no such file or folder");
    }
    try {
      if (std::filesystem::is_directory(status)) {
        find_below(path, files);
      } else {
        files.push_back(path);
      }
    } catch (const std::filesystem::filesystem_error& unreadable) {
      throw FixtureError(path.string() + ": " + unreadable.code().message());
    }
  }
  return files;
}

}  // namespace hookgate
