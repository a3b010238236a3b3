#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "domain/http_message.h"
#include "domain/http_url.h"
#include "outbox/transfer_watch.h"

namespace hookgate {

struct HttpLimits {
  std::chrono::steady_clock::time_point deadline;  // of the whole exchange, name look-up included
  std::stop_token abort;
  std::size_t answer_body_bytes_max = 64 * 1024;
  std::size_t answer_head_bytes_max = 64 * 1024;
};

// What came of one POST. The status alone says whether the receiver took it: once it is here, a
// body that is cut or too long changes nothing.
struct HttpExchange {
  int status = 0;          // 0: no answer, see `fault`
  std::string body_start;  // its first bytes, for an operator
  std::optional<std::string> retry_after;
  std::optional<std::string> location;
  std::string fault;
  bool is_aborted = false;
};

// A connection to one server, kept while the server keeps it. Certificates are verified against the
// system's, redirects are not followed. One thread at a time.
class HttpConnection {
 public:
  // `refuse_private`: no address is connected to that is not public. It is the address that is
  // checked and connected to, not a second look-up's.
  HttpConnection(HttpUrl url, bool refuse_private, TransferWatch& watch);
  ~HttpConnection();

  HttpExchange post(const std::vector<Header>& headers, const std::string& body,
                    const HttpLimits& limits);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hookgate
