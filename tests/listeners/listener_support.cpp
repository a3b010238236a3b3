#include "listener_support.h"

#include <algorithm>
#include <csignal>

#include "gateway_support.h"
#include "raw_socket.h"
#include "store/retention.h"

namespace hookgate {
namespace {

bool has_name(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':' &&
         equal_ignoring_case(line.substr(0, name.size()), name);
}

std::string padded_event(const std::string& event_id, std::size_t body_bytes) {
  const auto object = [](const std::string& note) {
    return R"({"id":"pi_framing","object":"payment_intent","description":")" + note + R"("})";
  };
  auto body = stripe_event(event_id, "payment_intent.created", object(""));
  if (body_bytes > body.size())
    body = stripe_event(event_id, "payment_intent.created",
                        object(std::string(body_bytes - body.size(), 'x')));
  return body;
}

SourceMap stripe_source(const std::vector<IpNetwork>& allowed) {
  SourceMap sources;
  Source source;
  source.allow = allowed;
  source.name = "stripe";
  source.provider = test_provider("stripe", kStripeSecret);
  sources.emplace(source.name, std::move(source));
  return sources;
}

std::string hex(std::size_t number) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
    number /= 16;
  } while (number > 0);
  return digits;
}

}  // namespace

RequestText::RequestText(const std::string& event_id, std::size_t body_bytes)
    : RequestText(padded_event(event_id, body_bytes), SignedBytes{}) {}

RequestText::RequestText(std::string bytes, SignedBytes) : body(std::move(bytes)) {
  const auto provider = test_provider("stripe", kStripeSecret);
  add("Host: gateway.test");
  for (const auto& header : signed_request(*provider, "stripe", body, system_now()).headers)
    add(header.name + ": " + header.value);
  add("Content-Length: " + std::to_string(body.size()));
}

RequestText& RequestText::add(const std::string& line) {
  lines.push_back(line);
  return *this;
}

RequestText& RequestText::remove(std::string_view name) {
  std::erase_if(lines, [&](const std::string& line) { return has_name(line, name); });
  return *this;
}

RequestText& RequestText::replace(std::string_view name, const std::string& line) {
  const auto found =
      std::ranges::find_if(lines, [&](const std::string& each) { return has_name(each, name); });
  *found = line;
  return *this;
}

RequestText& RequestText::chunked(const std::string& wire_body) {
  body = wire_body;
  return replace("Content-Length", "Transfer-Encoding: chunked");
}

std::string RequestText::head() const {
  auto head = method + " " + target + " " + version + "\r\n";
  for (const auto& line : lines) head += line + "\r\n";
  return head + "\r\n";
}

std::string chunk(std::string_view data) {
  return hex(data.size()) + "\r\n" + std::string{data} + "\r\n";
}

std::string in_chunks(std::string_view body, std::size_t chunk_bytes) {
  std::string wire;
  for (std::size_t at = 0; at < body.size(); at += chunk_bytes)
    wire += chunk(body.substr(at, chunk_bytes));
  return wire + "0\r\n\r\n";
}

std::unique_ptr<Listener> make_listener(const std::string& kind, ListenerSettings settings,
                                        Receiver& receiver) {
  return kind == kReactor ? make_reactor_listener(std::move(settings), receiver)
                          : make_httplib_listener(std::move(settings), receiver);
}

std::string listener_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

void ListenerFixture::SetUp() {
  HOOKGATE_REQUIRE_DATABASE();
  std::signal(SIGPIPE, SIG_IGN);
  database_ = std::make_unique<TestDatabase>();
}

void ListenerFixture::start(ListenerSettings settings) {
  PoolSettings pool;
  pool.url = database().url();
  pool_ = std::make_unique<ConnectionPool>(pool);
  ensure_body_partitions(*pool_->acquire(), system_now());
  queue_ = std::make_unique<CommitQueue>(*pool_, CommitQueueSettings{}, [] {});
  responder_ = std::make_unique<Responder>(*pool_, system_now, ResponderSettings{}, [] {});
  receiver_settings_.body_bytes_max = kBodyBytesMax;
  receiver_ = std::make_unique<Receiver>(stripe_source(allowed_clients_), *queue_, *responder_,
                                         system_now, receiver_settings_, [] { return true; });
  settings.host = "127.0.0.1";
  listener_ = make_listener(kind(), std::move(settings), *receiver_);
  queue_->start();
  listener_->start();
  address_ = listener_->address();
}

void ListenerFixture::stop() {
  if (!listener_) return;
  listener_->stop();
  queue_->stop();
}

bool ListenerFixture::is_stored(const std::string& event_id) {
  return database().count("hookgate.events WHERE event_id = '" + event_id + "'") > 0;
}

bool ListenerFixture::answers_probe(RawSocket& socket) {
  socket.send("GET /healthz HTTP/1.1\r\nHost: gateway.test\r\n\r\n");
  return statuses_of(socket.read_answers(1)) == std::vector{200};
}

}  // namespace hookgate
