#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/http_message.h"
#include "ingest/chunked_body.h"

namespace hookgate {

struct RequestLimits {
  std::size_t head_bytes_max = 16UL * 1024;  // request line and headers, with the empty line
  std::size_t target_bytes_max = 2048;
  std::size_t headers_max = 100;
  std::size_t body_bytes_max = 1024UL * 1024;
};

// Reads HTTP/1.0 and 1.1 requests from pieces of a byte stream, one after the other. Strict: a
// request that another program could take apart in another way is refused, so that nothing can hide
// behind it. Pure: no I/O, no clock. What comes out does not depend on how the bytes are cut, but
// for a fault in a head that is not whole yet, which may be told early.
class RequestParser {
 public:
  enum class Status {
    kHead,     // within the head, or before it
    kJudge,    // the head is whole and plain; `accept_head` goes on
    kBody,     // within the body
    kWhole,    // `take` gives the request
    kRefused,  // `refusal` says why; no later byte of the connection can be trusted
  };

  // Why a request is refused.
  struct Refusal {
    int status = 400;
    std::string_view title;  // static
  };

  explicit RequestParser(RequestLimits limits) : limits_(limits) {}

  // Takes bytes from the front of `bytes` and returns how many; it takes none in kJudge, kWhole and
  // kRefused.
  std::size_t feed(std::string_view bytes);

  Status status() const { return status_; }
  // Whether a first byte of the current request has come.
  bool has_begun() const { return status_ != Status::kHead || !head_.empty(); }
  // The head is to the caller's liking: read the body. Only in kJudge.
  void accept_head();

  void set_remote_address(std::string_view address) { request_.remote_address = address; }
  const InboundRequest& request() const { return request_; }  // its body grows in kBody
  const Refusal& refusal() const { return refusal_; }         // in kRefused
  std::optional<std::size_t> content_length() const { return content_length_; }
  bool has_body() const { return is_chunked_ || content_length_.value_or(0) > 0; }
  bool expects_continue() const { return expects_continue_; }
  bool is_http_1_0() const { return is_http_1_0_; }
  // Whether the connection may be used for another request after this one. From kJudge on.
  bool keeps_alive() const { return keeps_alive_; }

  // The whole request; the parser then waits for the next one. Only in kWhole.
  InboundRequest take();

 private:
  class HeadReader;

  std::size_t feed_head(std::string_view bytes);
  std::size_t feed_body(std::string_view bytes);
  std::optional<std::size_t> find_head_end(std::string_view head);
  void check_line(std::string_view line);
  void parse_head(std::string_view head);
  void check_framing();
  void check_target();
  void refuse(int status, std::string_view title);

  RequestLimits limits_;
  Status status_ = Status::kHead;
  Refusal refusal_;

  std::string head_;            // what came of it, while it is not whole
  std::size_t line_begin_ = 0;  // of the head's first line that is not whole

  InboundRequest request_;
  std::optional<std::size_t> content_length_;
  bool is_chunked_ = false;
  bool expects_continue_ = false;
  bool is_http_1_0_ = false;
  bool keeps_alive_ = false;
  ChunkedBody chunks_;
};

}  // namespace hookgate
