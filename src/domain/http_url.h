#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace hookgate {

// Where an HTTP request goes.
struct HttpUrl {
  bool is_tls = false;
  std::string host;  // a name or an address, without brackets
  std::uint16_t port = 0;
  std::string target;  // path and query, as written; at least "/"

  // What the Host header says: the port only where it is not the scheme's own.
  std::string authority() const;
};

struct BadHttpUrl {
  std::string reason;  // "has no host"; holds nothing of the URL
};

// An absolute http or https URL of printable ASCII. Refused are a fragment, which is never sent,
// and a user or password, which would end up in logs. No name is looked up.
std::variant<HttpUrl, BadHttpUrl> parse_http_url(std::string_view text);

}  // namespace hookgate
