#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hookgate {

// Takes the chunked transfer coding (RFC 9112, 7.1) off a body, in its plainest form only: what two
// programs could read in two ways is refused.
//
//   chunk   = 1 to 8 hex digits CRLF, that many bytes, CRLF
//   body    = chunks, "0" CRLF CRLF
//
// No extensions, no trailers, no bare LF. The outcome does not depend on how the bytes are cut.
class ChunkedBody {
 public:
  enum class Status { kMore, kWhole, kMalformed, kTooLarge };

  explicit ChunkedBody(std::size_t body_bytes_max = 0) : body_bytes_max_(body_bytes_max) {}

  // Takes bytes from the front of `bytes` and appends data to `body`; returns how many it took: all
  // of them unless the body ended or was refused.
  std::size_t feed(std::string_view bytes, std::string& body);
  Status status() const { return status_; }

 private:
  enum class Expected { kSize, kSizeEnd, kData, kDataCr, kDataLf, kLastCr, kLastLf };

  void feed_framing(char c, std::size_t body_bytes);
  void feed_size_digit(char c);

  std::size_t body_bytes_max_;
  Status status_ = Status::kMore;
  Expected expected_ = Expected::kSize;
  int size_digits_ = 0;
  std::uint64_t size_ = 0;  // of the chunk; then what is left of it
};

}  // namespace hookgate
