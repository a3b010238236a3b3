#pragma once

#include <string>
#include <string_view>

#include "domain/http_message.h"

namespace hookgate {

struct ResponseForm {
  bool is_http_1_0 = false;    // the request was; an open connection must then be said
  bool keeps_alive = true;     // else "Connection: close"
  bool without_body = false;   // answer to HEAD: the length alone
  std::string_view date = {};  // as of RFC 9110, 5.6.7; left out when empty
};

// The bytes of an HTTP/1.1 response.
std::string serialize_response(const Answer& answer, const ResponseForm& form);

// The interim response to "Expect: 100-continue".
inline constexpr std::string_view kContinueResponse = "HTTP/1.1 100 Continue\r\n\r\n";

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(SystemTime at);

}  // namespace hookgate
