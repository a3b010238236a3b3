#include "ingest/request_parser.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <boost/beast/http/basic_parser.hpp>

namespace hookgate {
namespace {

namespace beast = boost::beast;

// What of the request line is not the target: method, two blanks, version.
constexpr std::size_t kRequestLineRestMax = 64;
constexpr std::size_t kBodyReserveMax = 16UL * 1024;
constexpr std::size_t kContentLengthDigitsMax = 18;
constexpr std::size_t kVersionBytes = 8;  // "HTTP/1.1"

constexpr std::array<std::string_view, 9> kKnownMethods{
    "POST", "GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "HTTP/" and two digits, of any version.
bool is_version(std::string_view text) {
  return text.size() == kVersionBytes && text.starts_with("HTTP/") && is_digit(text[5]) &&
         text[6] == '.' && is_digit(text[7]);
}

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

std::optional<std::size_t> plain_number(std::string_view text) {
  if (text.empty() || text.size() > kContentLengthDigitsMax || !std::ranges::all_of(text, is_digit))
    return std::nullopt;
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

// Takes a whole head apart; what the library lets pass and we do not is checked before and after.
class RequestParser::HeadReader final : public beast::http::basic_parser<true> {
 public:
  HeadReader(InboundRequest& request, std::size_t headers_max)
      : request_(request), headers_max_(headers_max) {
    body_limit(std::numeric_limits<std::uint64_t>::max());
  }

  bool has_too_many_headers() const { return headers_ > headers_max_; }
  bool is_http_1_0() const { return version_ == 10; }

 private:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int version, beast::error_code&) override {
    version_ = version;
    request_.method = view_of(method);
    request_.target = view_of(target);
  }
  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                     beast::error_code& error) override {
    if (++headers_ > headers_max_) {
      error = beast::http::error::header_limit;
      return;
    }
    request_.headers.push_back({std::string{view_of(name)}, std::string{view_of(value)}});
  }
  void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}
  void on_header_impl(beast::error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, beast::error_code&) override {
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body,
                                 beast::error_code&) override {
    return body.size();
  }
  void on_finish_impl(beast::error_code&) override {}

  InboundRequest& request_;
  std::size_t headers_max_;
  std::size_t headers_ = 0;
  int version_ = 0;
};

void RequestParser::refuse(int status, std::string_view title) {
  status_ = Status::kRefused;
  refusal_ = {status, title};
}

std::size_t RequestParser::feed(std::string_view bytes) {
  if (status_ == Status::kHead) return feed_head(bytes);
  if (status_ == Status::kBody) return feed_body(bytes);
  return 0;
}

// A head that comes in one piece, as nearly all do, is read where it is.
std::size_t RequestParser::feed_head(std::string_view bytes) {
  const auto known = head_.size();
  std::string_view head = bytes;
  if (known > 0) {
    head_.append(bytes.substr(0, limits_.head_bytes_max + 1 - known));
    head = head_;
  }
  const auto end = find_head_end(head.substr(0, limits_.head_bytes_max));
  if (status_ == Status::kRefused) return 0;
  if (end) {
    parse_head(head.substr(0, *end));
    head_.clear();
    line_begin_ = 0;
    return *end - known;
  }
  if (head.size() > limits_.head_bytes_max) {
    refuse(431, "headers too large");
    return 0;
  }
  if (known == 0) head_.assign(bytes);
  return bytes.size();
}

// Where the empty line ends. Goes on with the first line that was not whole the last time.
std::optional<std::size_t> RequestParser::find_head_end(std::string_view head) {
  while (true) {
    const auto line_end = head.find('\n', line_begin_);
    const bool is_request_line = line_begin_ == 0;
    const auto line_bytes = std::min(line_end, head.size()) - line_begin_;
    if (is_request_line && line_bytes > limits_.target_bytes_max + kRequestLineRestMax) {
      refuse(414, "target too long");
      return std::nullopt;
    }
    if (line_end == std::string_view::npos) return std::nullopt;
    const auto line = head.substr(line_begin_, line_end - line_begin_);
    if (!line.ends_with('\r')) {
      refuse(400, "line without carriage return");
      return std::nullopt;
    }
    if (line.size() == 1 && !is_request_line) return line_end + 1;
    check_line(line.substr(0, line.size() - 1));
    if (status_ == Status::kRefused) return std::nullopt;
    line_begin_ = line_end + 1;
  }
}

void RequestParser::check_line(std::string_view line) {
  if (line.empty()) {
    refuse(400, "empty request line");
  } else if (line_begin_ > 0 && (line.front() == ' ' || line.front() == '\t')) {
    refuse(400, "folded header");
  } else if (line.find('\0') != std::string_view::npos ||
             line.find('\r') != std::string_view::npos) {
    refuse(400, "control character in the head");
  } else if (line_begin_ == 0 && line.size() > kVersionBytes) {
    const auto version = line.substr(line.size() - kVersionBytes);
    if (is_version(version) && version != "HTTP/1.1" && version != "HTTP/1.0")
      refuse(505, "HTTP version not supported");
  }
}

void RequestParser::parse_head(std::string_view head) {
  request_ = {};
  HeadReader reader{request_, limits_.headers_max};
  reader.header_limit(static_cast<std::uint32_t>(head.size() + 1));
  beast::error_code error;
  reader.put({head.data(), head.size()}, error);
  if (reader.has_too_many_headers()) return refuse(431, "too many headers");
  if (error && error != beast::http::error::need_more) return refuse(400, "malformed request");
  if (!reader.is_header_done()) return refuse(400, "malformed request");
  is_http_1_0_ = reader.is_http_1_0();
  keeps_alive_ = reader.keep_alive();
  status_ = Status::kJudge;
  check_target();
  if (status_ == Status::kJudge) check_framing();
}

void RequestParser::check_target() {
  const auto& target = request_.target;
  if (target.size() > limits_.target_bytes_max) return refuse(414, "target too long");
  if (std::ranges::find(kKnownMethods, request_.method) == kKnownMethods.end())
    return refuse(501, "method not known");
  const bool is_plain =
      std::ranges::all_of(target, [](char c) { return c > ' ' && c < '\x7F' && c != '#'; });
  // Only these two have other forms, and neither is served.
  const bool may_differ = request_.method == "CONNECT" || request_.method == "OPTIONS";
  if (!is_plain || (!target.starts_with('/') && !may_differ))
    return refuse(400, "malformed target");
}

void RequestParser::check_framing() {
  std::size_t lengths = 0;
  std::size_t hosts = 0;
  const Header* length = nullptr;
  is_chunked_ = false;
  expects_continue_ = false;
  content_length_.reset();
  for (const auto& header : request_.headers) {
    if (equal_ignoring_case(header.name, "Host")) ++hosts;
    if (equal_ignoring_case(header.name, "Content-Length")) {
      ++lengths;
      length = &header;
    } else if (equal_ignoring_case(header.name, "Transfer-Encoding")) {
      if (is_chunked_) return refuse(400, "ambiguous body length");
      if (!equal_ignoring_case(header.value, "chunked"))
        return refuse(501, "transfer encoding not understood");
      is_chunked_ = true;
    } else if (equal_ignoring_case(header.name, "Expect") && !is_http_1_0_) {
      if (!equal_ignoring_case(header.value, "100-continue"))
        return refuse(417, "expectation not understood");
      expects_continue_ = true;
    }
  }
  if (hosts > 1 || (hosts == 0 && !is_http_1_0_)) return refuse(400, "exactly one Host is needed");
  if (lengths + (is_chunked_ ? 1 : 0) > 1 || (is_chunked_ && is_http_1_0_))
    return refuse(400, "ambiguous body length");
  if (length != nullptr) {
    content_length_ = plain_number(length->value);
    if (!content_length_) return refuse(400, "malformed body length");
  }
  if (request_.method == "POST") {
    if (!is_chunked_ && !content_length_) refuse(411, "length required");
  } else if (has_body() && (request_.method == "GET" || request_.method == "HEAD")) {
    refuse(400, "unexpected body");
  }
}

void RequestParser::accept_head() {
  if (content_length_.value_or(0) > limits_.body_bytes_max) return refuse(413, "body too large");
  if (is_chunked_) chunks_ = ChunkedBody{limits_.body_bytes_max};
  request_.body.reserve(std::min(content_length_.value_or(0), kBodyReserveMax));
  status_ = has_body() ? Status::kBody : Status::kWhole;
}

std::size_t RequestParser::feed_body(std::string_view bytes) {
  auto& body = request_.body;
  if (!is_chunked_) {
    const auto count = std::min(*content_length_ - body.size(), bytes.size());
    body.append(bytes.substr(0, count));
    if (body.size() == *content_length_) status_ = Status::kWhole;
    return count;
  }
  const auto count = chunks_.feed(bytes, body);
  switch (chunks_.status()) {
    case ChunkedBody::Status::kMore: break;
    case ChunkedBody::Status::kWhole: status_ = Status::kWhole; break;
    case ChunkedBody::Status::kMalformed: refuse(400, "malformed chunk"); break;
    case ChunkedBody::Status::kTooLarge: refuse(413, "body too large"); break;
  }
  return count;
}

InboundRequest RequestParser::take() {
  status_ = Status::kHead;
  return std::move(request_);
}

}  // namespace hookgate
