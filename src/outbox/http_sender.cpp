#include "outbox/http_sender.h"

#include <algorithm>
#include <utility>

#include "outbox/retry_after.h"

namespace hookgate {
namespace {

constexpr int kTooManyRequests = 429;
constexpr int kServiceUnavailable = 503;
constexpr std::size_t kHintBytesMax = 255;

// Fit for a header's value; the HTTP client would drop the whole header otherwise.
bool is_plain(const std::string& text) {
  return !text.empty() && text.size() <= kHintBytesMax &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

HttpSender::HttpSender(HttpSenderSettings settings, std::unique_ptr<Provider> signer, Clock clock)
    : settings_(std::move(settings)), signer_(std::move(signer)), clock_(std::move(clock)) {}

SendResult HttpSender::send(const OutgoingMessage& message, const std::stop_token& abort) {
  HttpLimits limits;
  limits.deadline = std::chrono::steady_clock::now() + settings_.timeout;
  limits.abort = abort;
  limits.answer_body_bytes_max = settings_.answer_body_bytes_max;
  limits.answer_head_bytes_max = settings_.answer_head_bytes_max;
  InboundRequest request;
  request.body = message.body;
  const auto headers = signed_headers(request, message);
  auto connection = take_connection();
  const auto exchange = connection->post(headers, request.body, limits);
  keep_connection(std::move(connection));
  return result_of(exchange);
}

// The last three are hints: no signature covers them.
std::vector<Header> HttpSender::signed_headers(InboundRequest& request,
                                               const OutgoingMessage& message) const {
  request.headers = {
      {"webhook-id", message.idempotency_key},
      {"Idempotency-Key", message.idempotency_key},
      {"Content-Type", is_plain(message.content_type) ? message.content_type : "application/json"},
      {"User-Agent", "hookgate/" HOOKGATE_VERSION}};
  signer_->sign(request, clock_());
  request.headers.push_back({"Hookgate-Event", std::to_string(message.event)});
  request.headers.push_back({"Hookgate-Item", std::to_string(message.item)});
  if (is_plain(message.event_type))
    request.headers.push_back({"Hookgate-Event-Type", message.event_type});
  return request.headers;
}

SendResult HttpSender::result_of(const HttpExchange& exchange) const {
  SendResult result;
  if (exchange.is_aborted) {
    result.kind = SendResult::Kind::kAborted;
    result.reason = exchange.fault;
    return result;
  }
  if (exchange.status == 0) {
    result.reason = exchange.fault;
    return result;
  }
  if (exchange.status >= 200 && exchange.status < 300) {
    result.kind = SendResult::Kind::kDelivered;
    return result;
  }
  result.reason = "HTTP " + std::to_string(exchange.status);
  if (exchange.status >= 300 && exchange.status < 400) {
    result.reason += ", a redirect, which is not followed";
    if (exchange.location) result.reason += ": " + *exchange.location;
  } else if (!exchange.body_start.empty()) {
    result.reason += ": " + exchange.body_start;
  }
  if (exchange.retry_after &&
      (exchange.status == kTooManyRequests || exchange.status == kServiceUnavailable)) {
    result.retry_after =
        parse_retry_after(*exchange.retry_after, clock_(), settings_.retry_after_max);
  }
  return result;
}

std::unique_ptr<HttpConnection> HttpSender::take_connection() {
  {
    const std::scoped_lock lock{mutex_};
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return std::make_unique<HttpConnection>(settings_.url, settings_.refuse_private_addresses,
                                          watch_);
}

void HttpSender::keep_connection(std::unique_ptr<HttpConnection> connection) {
  const std::scoped_lock lock{mutex_};
  if (idle_.size() < settings_.connections_kept_max) idle_.push_back(std::move(connection));
}

}  // namespace hookgate
