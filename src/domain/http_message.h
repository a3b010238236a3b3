#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/time.h"

namespace hookgate {

struct Header {
  std::string name;
  std::string value;
};

// True when both are the same but for ASCII letter case, as HTTP header names are compared.
bool equal_ignoring_case(std::string_view a, std::string_view b);

// A request as a listener read it: headers in order, repeated ones kept, and the body's bytes
// exactly as they came. Listeners make it; nothing later changes it.
struct InboundRequest {
  std::string method;
  std::string target;          // as on the request line, query included
  std::string remote_address;  // of the socket's peer, without a port
  std::vector<Header> headers;
  std::string body;
  SystemTime received_at{};

  // The target without its query.
  std::string_view path() const;
  // Value of the first header of this name, in any letter case. The view lives as long as the
  // request.
  std::optional<std::string_view> header(std::string_view name) const;
  // How many headers of this name came.
  std::size_t header_count(std::string_view name) const;
};

// What we send back.
struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<Header> headers;  // besides Content-Type and Content-Length
};

}  // namespace hookgate
