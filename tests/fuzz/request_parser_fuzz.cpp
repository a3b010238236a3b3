#include <algorithm>
#include <string>
#include <vector>

#include "fuzz_target.h"
#include "ingest/request_parser.h"

// A stream of requests, cut into fragments. Input: a byte that picks the limits, the lengths of
// some fragments (used in turn), then the stream.

namespace hookgate {
namespace {

using Status = RequestParser::Status;

constexpr std::size_t kLengths = 8;

struct Whole {
  InboundRequest request;
  bool keeps_alive = false;
  std::size_t begin = 0;  // of its bytes in the stream
  std::size_t end = 0;
};

struct Outcome {
  std::vector<Whole> requests;
  Status status = Status::kHead;
  int refused_with = 0;
};

RequestLimits limits_of(std::uint8_t choice) {
  RequestLimits limits;
  if ((choice & 1U) != 0) limits.head_bytes_max = 128;
  if ((choice & 2U) != 0) limits.target_bytes_max = 20;
  if ((choice & 4U) != 0) limits.headers_max = 3;
  if ((choice & 8U) != 0) limits.body_bytes_max = 64;
  return limits;
}

void check_request(const InboundRequest& request, const RequestLimits& limits) {
  require(request.body.size() <= limits.body_bytes_max, "a body is within its limit");
  // A string may grow to twice what it holds; the first reservation is at most 16 KiB.
  require(request.body.capacity() <= std::max<std::size_t>(2 * limits.body_bytes_max, 16 * 1024),
          "no more is allocated for a body than its limit lets come");
  require(request.headers.size() <= limits.headers_max, "headers are within their limit");
  require(request.target.size() <= limits.target_bytes_max, "a target is within its limit");
}

void check_refused(RequestParser& parser) {
  const auto status = parser.refusal().status;
  require(status >= 400 && status < 600, "a refusal has the status of an error");
  require(!parser.refusal().title.empty(), "a refusal has a title");
  require(parser.feed("GET / HTTP/1.1\r\nHost: a\r\n\r\n") == 0, "a refused one takes nothing");
  require(parser.status() == Status::kRefused, "a refused one stays refused");
  require(parser.refusal().status == status, "and keeps its reason");
}

// Feeds a stream as a connection does.
class Reader {
 public:
  explicit Reader(const RequestLimits& limits) : limits_(limits), parser_(limits) {}

  // Whether more can be fed.
  bool feed(std::string_view fragment) {
    while (true) {
      if (parser_.status() == Status::kJudge) parser_.accept_head();
      if (parser_.status() == Status::kWhole && !take()) return false;
      if (parser_.status() == Status::kRefused) {
        check_refused(parser_);
        return false;
      }
      if (fragment.empty() && parser_.status() != Status::kJudge) return true;
      const auto before = parser_.status();
      const auto taken = parser_.feed(fragment);
      require(taken <= fragment.size(), "no more is taken than there is");
      require(taken > 0 || parser_.status() != before, "a fragment moves the parser on");
      fragment.remove_prefix(taken);
      position_ += taken;
      if (parser_.status() == Status::kBody) check_request(parser_.request(), limits_);
    }
  }

  Outcome outcome() {
    outcome_.status = parser_.status();
    if (parser_.status() == Status::kRefused) outcome_.refused_with = parser_.refusal().status;
    return std::move(outcome_);
  }

 private:
  // Whether the connection goes on.
  bool take() {
    Whole whole;
    whole.keeps_alive = parser_.keeps_alive();
    whole.request = parser_.take();
    whole.begin = begin_;
    whole.end = begin_ = position_;
    check_request(whole.request, limits_);
    require(parser_.status() == Status::kHead && !parser_.has_begun(), "the next one is new");
    outcome_.requests.push_back(std::move(whole));
    return outcome_.requests.back().keeps_alive;
  }

  RequestLimits limits_;
  RequestParser parser_;
  Outcome outcome_;
  std::size_t begin_ = 0;     // of the request
  std::size_t position_ = 0;  // in the stream
};

Outcome read_in_fragments(std::string_view stream, std::string_view lengths,
                          const RequestLimits& limits) {
  Reader reader{limits};
  for (std::size_t i = 0; !stream.empty(); ++i) {
    const auto chosen = static_cast<std::uint8_t>(lengths[i % lengths.size()]);
    const auto fragment = stream.substr(0, std::max<std::size_t>(chosen, 1));
    stream.remove_prefix(fragment.size());
    if (!reader.feed(fragment)) break;
  }
  return reader.outcome();
}

Outcome read_at_once(std::string_view stream, const RequestLimits& limits) {
  Reader reader{limits};
  reader.feed(stream);
  return reader.outcome();
}

bool are_same(const InboundRequest& a, const InboundRequest& b) {
  return a.method == b.method && a.target == b.target && a.body == b.body &&
         std::ranges::equal(a.headers, b.headers, [](const Header& x, const Header& y) {
           return x.name == y.name && x.value == y.value;
         });
}

void check_same(const Outcome& a, const Outcome& b) {
  require(std::ranges::equal(a.requests, b.requests,
                             [](const Whole& x, const Whole& y) {
                               return are_same(x.request, y.request) && x.begin == y.begin &&
                                      x.end == y.end && x.keeps_alive == y.keeps_alive;
                             }),
          "the same requests come out, however the stream is cut");
  require(a.status == b.status, "and the same is left");
  require(a.refused_with == b.refused_with, "or refused with the same status");
}

// Each request is all of its own bytes and no byte of the next one.
void check_alone(std::string_view stream, const Whole& whole, const RequestLimits& limits) {
  const auto own = stream.substr(whole.begin, whole.end - whole.begin);
  const auto alone = read_at_once(own, limits);
  require(alone.requests.size() == 1 && alone.requests[0].end == own.size(), "it ends at its end");
  require(are_same(alone.requests[0].request, whole.request), "it is the same alone");
  const auto cut = read_at_once(own.substr(0, own.size() - 1), limits);
  require(cut.requests.empty(), "it is not whole without its last byte");
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  FuzzChoices choices{bytes};
  const auto limits = limits_of(choices.byte());
  const auto lengths = choices.take(kLengths);
  const auto stream = choices.rest();
  const auto at_once = read_at_once(stream, limits);
  if (!stream.empty()) {
    check_same(at_once, read_in_fragments(stream, lengths, limits));
    check_same(at_once, read_in_fragments(stream, std::string(1, '\x01'), limits));
  }
  for (const auto& whole : at_once.requests) check_alone(stream, whole, limits);
}

}  // namespace hookgate
