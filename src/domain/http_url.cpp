#include "domain/http_url.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "domain/http_message.h"
#include "domain/ip_network.h"

namespace hookgate {
namespace {

constexpr std::size_t kUrlBytesMax = 2048;
constexpr std::size_t kHostBytesMax = 253;  // of a name in the DNS
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

bool is_printable(char c) {
  return c > ' ' && c < '\x7F';
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool is_host(std::string_view host, bool in_brackets) {
  if (in_brackets) {
    return host.find(':') != std::string_view::npos && IpAddress::parse(host).has_value();
  }
  return host.size() <= kHostBytesMax && std::ranges::all_of(host, is_name_character);
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc{} || rest != end || port == 0) return std::nullopt;
  return port;
}

// Fills host and port from "host:port", "[::1]:port", "host"; the reason when it cannot.
std::string read_authority(std::string_view authority, HttpUrl& url) {
  if (authority.find('@') != std::string_view::npos) return "holds a user or a password";
  const bool in_brackets = authority.starts_with('[');
  std::size_t host_end = authority.find(':');
  if (in_brackets) {
    const auto bracket = authority.find(']');
    if (bracket == std::string_view::npos) return "has no ']'";
    url.host = authority.substr(1, bracket - 1);
    host_end = bracket + 1;
  } else {
    url.host = authority.substr(0, host_end);
  }
  if (url.host.empty()) return "has no host";
  if (!is_host(url.host, in_brackets)) return "has a host that is no name or address";
  const auto rest = host_end < authority.size() ? authority.substr(host_end) : std::string_view{};
  if (rest.empty()) return "";
  const auto port = rest.starts_with(':') ? parse_port(rest.substr(1)) : std::nullopt;
  if (!port) return "has a port that is no number from 1 to 65535";
  url.port = *port;
  return "";
}

}  // namespace

std::string HttpUrl::authority() const {
  auto text = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != (is_tls ? kHttpsPort : kHttpPort)) text += ":" + std::to_string(port);
  return text;
}

std::variant<HttpUrl, BadHttpUrl> parse_http_url(std::string_view text) {
  if (text.size() > kUrlBytesMax) return BadHttpUrl{"is longer than 2048 bytes"};
  if (!std::ranges::all_of(text, is_printable))
    return BadHttpUrl{"holds a blank or a character that is not printable ASCII"};
  const auto colon = text.find("://");
  const auto scheme = colon == std::string_view::npos ? "" : text.substr(0, colon);
  HttpUrl url;
  url.is_tls = equal_ignoring_case(scheme, "https");
  if (!url.is_tls && !equal_ignoring_case(scheme, "http"))
    return BadHttpUrl{"does not begin with https:// or http://"};
  url.port = url.is_tls ? kHttpsPort : kHttpPort;
  text.remove_prefix(colon + 3);
  if (text.find('#') != std::string_view::npos) return BadHttpUrl{"has a fragment ('#')"};
  const auto path = std::min(text.find_first_of("/?"), text.size());
  auto reason = read_authority(text.substr(0, path), url);
  if (!reason.empty()) return BadHttpUrl{std::move(reason)};
  url.target = text.substr(path);
  if (!url.target.starts_with('/')) url.target.insert(0, 1, '/');
  return url;
}

}  // namespace hookgate
