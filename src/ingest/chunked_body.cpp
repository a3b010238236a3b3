#include "ingest/chunked_body.h"

#include <algorithm>

namespace hookgate {
namespace {

constexpr int kSizeDigitsMax = 8;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::size_t ChunkedBody::feed(std::string_view bytes, std::string& body) {
  std::size_t taken = 0;
  while (taken < bytes.size() && status_ == Status::kMore) {
    if (expected_ != Expected::kData) {
      feed_framing(bytes[taken++], body.size());
      continue;
    }
    const auto count = std::min<std::uint64_t>(size_, bytes.size() - taken);
    body.append(bytes, taken, count);
    taken += count;
    size_ -= count;
    if (size_ == 0) expected_ = Expected::kDataCr;
  }
  return taken;
}

void ChunkedBody::feed_framing(char c, std::size_t body_bytes) {
  const auto expect = [&](char wanted, Expected next) {
    expected_ = next;
    if (c != wanted) status_ = Status::kMalformed;
  };
  switch (expected_) {
    case Expected::kSize: feed_size_digit(c); break;
    case Expected::kSizeEnd:
      expect('\n', size_ == 0 ? Expected::kLastCr : Expected::kData);
      // The announced size counts, so that nothing over the limit is ever read.
      if (status_ == Status::kMore && size_ > body_bytes_max_ - body_bytes)
        status_ = Status::kTooLarge;
      break;
    case Expected::kData: break;
    case Expected::kDataCr: expect('\r', Expected::kDataLf); break;
    case Expected::kDataLf:
      expect('\n', Expected::kSize);
      size_digits_ = 0;
      break;
    case Expected::kLastCr: expect('\r', Expected::kLastLf); break;
    case Expected::kLastLf:
      expect('\n', Expected::kLastLf);
      if (status_ == Status::kMore) status_ = Status::kWhole;
      break;
  }
}

void ChunkedBody::feed_size_digit(char c) {
  const int digit = hex_value(c);
  if (digit >= 0 && size_digits_ < kSizeDigitsMax) {
    size_ = size_ * 16 + static_cast<std::uint64_t>(digit);
    ++size_digits_;
  } else if (c == '\r' && size_digits_ > 0) {
    expected_ = Expected::kSizeEnd;
  } else {
    status_ = Status::kMalformed;
  }
}

}  // namespace hookgate
