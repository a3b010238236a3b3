#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "domain/http_url.h"
#include "domain/provider.h"
#include "domain/time.h"
#include "outbox/http_connection.h"
#include "outbox/message_sender.h"
#include "outbox/transfer_watch.h"

namespace hookgate {

struct HttpSenderSettings {
  HttpUrl url;
  std::chrono::milliseconds timeout{10'000};  // of a whole try
  bool refuse_private_addresses = false;
  std::size_t answer_body_bytes_max = 64 * 1024;
  std::size_t answer_head_bytes_max = 64 * 1024;
  std::chrono::milliseconds retry_after_max{std::chrono::hours{1}};
  std::size_t connections_kept_max = 4;
};

// POSTs messages, signed as Standard Webhooks: `webhook-id` and `Idempotency-Key` are the message's
// key, `webhook-timestamp` is the time of the try, the body is sent as it is. 2xx is delivered, all
// else failed; Retry-After counts with 429 and 503.
class HttpSender final : public MessageSender {
 public:
  // `signer` signs as a sender would.
  HttpSender(HttpSenderSettings settings, std::unique_ptr<Provider> signer, Clock clock);

  SendResult send(const OutgoingMessage& message, const std::stop_token& abort) override;
  std::chrono::milliseconds time_limit() const override { return settings_.timeout; }

 private:
  std::vector<Header> signed_headers(InboundRequest& request, const OutgoingMessage& message) const;
  SendResult result_of(const HttpExchange& exchange) const;
  std::unique_ptr<HttpConnection> take_connection();
  void keep_connection(std::unique_ptr<HttpConnection> connection);

  const HttpSenderSettings settings_;
  const std::unique_ptr<Provider> signer_;
  const Clock clock_;
  TransferWatch watch_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<HttpConnection>> idle_;  // guarded by mutex_; before watch_ goes
};

}  // namespace hookgate
