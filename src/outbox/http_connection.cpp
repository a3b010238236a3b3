#include "outbox/http_connection.h"

#include <algorithm>
#include <optional>

#include <httplib.h>

#include "domain/public_address.h"
#include "outbox/name_resolution.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kBodyStartBytesMax = 256;
constexpr std::chrono::seconds kAddressesAge{30};  // then the name is looked up again
// Beyond the deadline, so that the watch, which knows why, is first.
constexpr std::chrono::seconds kClientSlack{1};

milliseconds time_left(const HttpLimits& limits) {
  return std::chrono::duration_cast<milliseconds>(limits.deadline - SteadyClock::now());
}

bool is_over(const HttpLimits& limits) {
  return limits.abort.stop_requested() || time_left(limits) <= milliseconds{0};
}

std::unique_ptr<httplib::ClientImpl> make_client(const HttpUrl& url) {
  std::unique_ptr<httplib::ClientImpl> client;
  if (url.is_tls) {
    client = std::make_unique<httplib::SSLClient>(url.host, url.port);
    client->enable_server_certificate_verification(true);
  } else {
    client = std::make_unique<httplib::ClientImpl>(url.host, url.port);
  }
  client->set_keep_alive(true);
  client->set_tcp_nodelay(true);
  client->set_follow_location(false);
  client->set_decompress(false);
  client->set_url_encode(false);
  return client;
}

httplib::Request make_request(const HttpUrl& url, const std::vector<Header>& headers,
                              const std::string& body) {
  httplib::Request request;
  request.method = "POST";
  request.path = url.target;
  request.body = body;
  request.headers.emplace("Host", url.authority());
  for (const auto& header : headers) request.set_header(header.name, header.value);
  return request;
}

}  // namespace

struct HttpConnection::Impl {
  Impl(HttpUrl to, bool refuse, TransferWatch& transfers)
      : url(std::move(to)), refuse_private(refuse), watch(transfers), client(make_client(url)) {
    client->set_socket_options([this](socket_t socket) { transfer.adopt(socket); });
  }

  // Looks the name up if that was long ago. Fills `exchange.fault` when there is no way to go.
  bool find_addresses(const HttpLimits& limits, HttpExchange& exchange);
  // One POST over the connection that is there, or over a new one to `address`. True when nothing
  // can be won by another try at once.
  bool try_address(const IpAddress& address, milliseconds connect_time, httplib::Request& request,
                   const HttpLimits& limits, HttpExchange& exchange);
  std::string fault_of(httplib::Error error, Transfer::Cut cut) const;
  std::string certificate_fault() const;

  const HttpUrl url;
  const bool refuse_private;
  TransferWatch& watch;
  std::vector<IpAddress> addresses;
  SteadyClock::time_point resolved_at{};
  Transfer transfer;
  std::unique_ptr<httplib::ClientImpl> client;
};

bool HttpConnection::Impl::find_addresses(const HttpLimits& limits, HttpExchange& exchange) {
  if (!addresses.empty() && SteadyClock::now() - resolved_at < kAddressesAge) return true;
  const auto before = std::exchange(addresses, {});
  auto resolved = resolve(url.host, limits.deadline, limits.abort);
  if (const auto* const failed = std::get_if<NotResolved>(&resolved)) {
    exchange.fault = failed->reason;
    return false;
  }
  addresses = std::get<std::vector<IpAddress>>(std::move(resolved));
  if (refuse_private) {
    std::erase_if(addresses, [](const IpAddress& one) { return !is_public_address(one); });
    if (addresses.empty()) {
      exchange.fault = "the name leads to a private address, which is refused";
      return false;
    }
  }
  resolved_at = SteadyClock::now();
  // A kept connection may lead to where the name no longer does.
  if (addresses != before) client->stop();
  return true;
}

std::string HttpConnection::Impl::certificate_fault() const {
  const auto* const tls = dynamic_cast<const httplib::SSLClient*>(client.get());
  const auto code = tls == nullptr ? X509_V_OK : tls->get_openssl_verify_result();
  return std::string{"certificate not accepted: "} +
         (code == X509_V_OK ? "it is not for this host" : X509_verify_cert_error_string(code));
}

std::string HttpConnection::Impl::fault_of(httplib::Error error, Transfer::Cut cut) const {
  switch (cut) {
    case Transfer::Cut::kDeadline: return "no answer in time";
    case Transfer::Cut::kAborted: return "cut off";
    case Transfer::Cut::kTooMuch: return "the head of the answer is too long";
    case Transfer::Cut::kNone: break;
  }
  switch (error) {
    case httplib::Error::Connection: return "connection refused or not possible";
    case httplib::Error::ConnectionTimeout: return "no connection in time";
    case httplib::Error::Read: return "connection lost before the answer";
    case httplib::Error::Write: return "connection lost while sending";
    case httplib::Error::SSLConnection: return "TLS handshake failed";
    case httplib::Error::SSLLoadingCerts: return "the system's certificates cannot be read";
    case httplib::Error::SSLServerVerification: return certificate_fault();
    default: return "request failed: " + httplib::to_string(error);
  }
}

bool HttpConnection::Impl::try_address(const IpAddress& address, milliseconds connect_time,
                                       httplib::Request& request, const HttpLimits& limits,
                                       HttpExchange& exchange) {
  client->set_hostname_addr_map({{url.host, address.text()}});
  const auto left = std::max(time_left(limits), milliseconds{1});
  client->set_connection_timeout(std::clamp(connect_time, milliseconds{1}, left));
  client->set_read_timeout(left + kClientSlack);
  client->set_write_timeout(left + kClientSlack);
  exchange = {};
  const auto take_head = [&](const httplib::Response& response) {
    exchange.status = response.status;
    if (response.has_header("Retry-After"))
      exchange.retry_after = response.get_header_value("Retry-After");
    if (response.has_header("Location")) exchange.location = response.get_header_value("Location");
  };
  request.response_handler = [&](const httplib::Response& response) {
    take_head(response);
    return true;
  };
  std::size_t body_bytes = 0;
  request.content_receiver = [&](const char* data, std::size_t bytes, std::uint64_t,
                                 std::uint64_t) {
    body_bytes += bytes;
    const auto room = kBodyStartBytesMax - exchange.body_start.size();
    exchange.body_start.append(data, std::min(bytes, room));
    return body_bytes <= limits.answer_body_bytes_max;
  };
  transfer.begin(
      {limits.deadline, limits.abort, limits.answer_body_bytes_max + limits.answer_head_bytes_max});
  watch.enter(transfer);
  httplib::Response response;
  auto error = httplib::Error::Success;
  const bool is_complete = client->send(request, response, error);
  watch.leave(transfer);
  const auto cut = transfer.end();
  // The client calls no handler for an answer that has no body.
  if (is_complete && exchange.status == 0) take_head(response);
  if (exchange.status != 0) return true;
  exchange.fault = fault_of(error, cut);
  exchange.is_aborted = cut == Transfer::Cut::kAborted;
  if (cut != Transfer::Cut::kNone) return true;
  // A kept connection that the server closed at this moment says nothing of the server.
  if (!transfer.adopted_since_begin()) return false;
  return error != httplib::Error::Connection && error != httplib::Error::ConnectionTimeout;
}

HttpConnection::HttpConnection(HttpUrl url, bool refuse_private, TransferWatch& watch)
    : impl_(std::make_unique<Impl>(std::move(url), refuse_private, watch)) {}

HttpConnection::~HttpConnection() = default;

HttpExchange HttpConnection::post(const std::vector<Header>& headers, const std::string& body,
                                  const HttpLimits& limits) {
  HttpExchange exchange;
  bool is_settled = !impl_->find_addresses(limits, exchange);
  if (!is_settled) {
    auto request = make_request(impl_->url, headers, body);
    const auto addresses = impl_->addresses;
    bool may_be_stale = true;  // the kept connection, which is tried before the first address
    for (std::size_t i = 0; !is_settled && !is_over(limits) && i < addresses.size();) {
      const auto share = time_left(limits) / static_cast<int>(addresses.size() - i);
      is_settled = impl_->try_address(addresses[i], share, request, limits, exchange);
      if (impl_->transfer.adopted_since_begin() || !std::exchange(may_be_stale, false)) ++i;
    }
    if (exchange.status == 0) impl_->resolved_at = {};
  }
  if (exchange.status == 0 && limits.abort.stop_requested()) exchange.is_aborted = true;
  if (exchange.status == 0 && exchange.fault.empty()) exchange.fault = "no connection in time";
  return exchange;
}

}  // namespace hookgate
