#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <httplib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "ingest/answers.h"
#include "ingest/elastic_thread_pool.h"
#include "ingest/listener.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

constexpr int kBacklog = 1024;
constexpr std::size_t kThreadsMax = 1024;  // a thread per connection; more connections wait
constexpr std::size_t kTargetBytesMax = 2048;
// Read and dropped past the limit before a refusal closes the connection, so that a sender that is
// still writing gets to see the answer.
constexpr std::size_t kDrainBytesMax = 64UL * 1024;

class PoolAdapter final : public httplib::TaskQueue {
 public:
  explicit PoolAdapter(std::size_t threads_max) : pool_(threads_max) {}
  void enqueue(std::function<void()> work) override { pool_.enqueue(std::move(work)); }
  void shutdown() override { pool_.shutdown(); }

 private:
  ElasticThreadPool pool_;
};

// The library listens with a backlog of 5; asking the kernel again on the bound socket widens it.
class WideBacklogServer final : public httplib::Server {
 public:
  void widen_backlog() { ::listen(svr_sock_, kBacklog); }
};

// The library adds these as if the peer had sent them, behind what the peer really sent under the
// name.
bool is_added_by_library(const std::string& name) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR",
                                              "LOCAL_PORT"},
      [&](std::string_view added) { return equal_ignoring_case(name, added); });
}

// The answer of one request, given by a writer thread, waited for by the request's thread.
class PendingAnswer {
 public:
  void set(Answer answer) {
    {
      const std::scoped_lock lock{mutex_};
      if (!answer_) answer_ = std::move(answer);
    }
    given_.notify_one();
  }
  std::optional<Answer> wait_for(std::chrono::milliseconds limit) {
    std::unique_lock lock{mutex_};
    given_.wait_for(lock, limit, [this] { return answer_.has_value(); });
    return answer_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  std::optional<Answer> answer_;  // guarded by mutex_
};

void write_head(const Answer& answer, httplib::Response& response) {
  response.status = answer.status;
  for (const auto& header : answer.headers) response.set_header(header.name, header.value);
}

void write(const Answer& answer, httplib::Response& response) {
  write_head(answer, response);
  response.set_content(answer.body, answer.content_type);
}

// Answers and ends the connection: what was not read of the request must never be run as the next
// one. A body without a length is ended by the close, which is the one way to make the library
// close.
void write_and_close(const Answer& answer, httplib::Response& response) {
  write_head(answer, response);
  response.set_header("Connection", "close");
  response.set_content_provider(answer.content_type,
                                [body = answer.body](std::size_t, httplib::DataSink& sink) {
                                  sink.write(body.data(), body.size());
                                  return false;
                                });
}

// The length the sender announces: nothing without one. `malformed` for what is no plain number.
struct BodyLength {
  std::optional<std::size_t> bytes;
  bool chunked = false;
  bool malformed = false;
};

BodyLength body_length(const httplib::Request& request) {
  BodyLength length;
  const auto lengths = request.get_header_value_count("Content-Length");
  const auto encodings = request.get_header_value_count("Transfer-Encoding");
  length.malformed = lengths + encodings > 1;
  if (encodings == 1) {
    length.chunked = equal_ignoring_case(request.get_header_value("Transfer-Encoding"), "chunked");
    length.malformed = length.malformed || !length.chunked;
  }
  if (lengths == 1) {
    const auto text = request.get_header_value("Content-Length");
    std::size_t bytes = 0;
    const auto* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, bytes);
    const bool is_number = !text.empty() && error == std::errc{} && stopped == end;
    length.malformed = length.malformed || !is_number;
    if (is_number) length.bytes = bytes;
  }
  return length;
}

class HttplibListener final : public Listener {
 public:
  HttplibListener(ListenerSettings settings, Receiver& receiver)
      : settings_(std::move(settings)), receiver_(receiver) {}
  ~HttplibListener() override { stop(); }

  void start() override {
    set_limits();
    set_routes();
    port_ = settings_.port;
    if (port_ == 0) {
      port_ = server_.bind_to_any_port(settings_.host);
    } else if (!server_.bind_to_port(settings_.host, port_)) {
      port_ = -1;
    }
    if (port_ < 0) {
      throw ListenError("cannot listen on " + settings_.host + ":" +
                        std::to_string(settings_.port) + ": address in use or not ours");
    }
    server_.widen_backlog();
    thread_ = std::thread{[this] { server_.listen_after_bind(); }};
    // A stop() before the library's loop has begun would be lost.
    while (!server_.is_running()) std::this_thread::yield();
  }

  void stop() noexcept override {
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
  }

  std::string address() const override {
    const bool is_ipv6 = settings_.host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + settings_.host + "]" : settings_.host) + ":" + std::to_string(port_);
  }

 private:
  void set_limits() {
    // The default would be SO_REUSEPORT, with which two processes share a port without a word.
    server_.set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    server_.set_tcp_nodelay(true);
    server_.new_task_queue = [this] {
      return new PoolAdapter(std::min(settings_.connections_max, kThreadsMax));
    };
    server_.set_keep_alive_max_count(1'000'000);
    server_.set_keep_alive_timeout(std::max<time_t>(
        1, std::chrono::ceil<std::chrono::seconds>(settings_.idle_timeout).count()));
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(settings_.request_timeout).count();
    server_.set_read_timeout(seconds);
    server_.set_write_timeout(seconds);
    // The limit is ours (read_body): the library reads all of an oversized body before it says so.
    server_.set_payload_max_length(std::numeric_limits<std::size_t>::max());
  }

  void set_routes() {
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          const auto refused = refuse_early(request);
          if (!refused) return httplib::Server::HandlerResponse::Unhandled;
          write_and_close(*refused, response);
          return httplib::Server::HandlerResponse::Handled;
        });
    server_.Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      answer(request, "", response);
    });
    server_.Post(".*", [this](const httplib::Request& request, httplib::Response& response,
                              const httplib::ContentReader& reader) {
      std::string body;
      if (const auto refused = read_body(reader, body)) {
        write_and_close(*refused, response);
        return;
      }
      answer(request, std::move(body), response);
    });
    server_.set_expect_100_continue_handler(
        [this](const httplib::Request& request, httplib::Response&) {
          return refuse_early(request) ? 417 : 100;
        });
    server_.set_exception_handler([this](const httplib::Request&, httplib::Response& response,
                                         const std::exception_ptr& error) {
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& caught) {
        log(LogLevel::kError, "request failed", {{"reason", std::string_view{caught.what()}}});
      } catch (...) {
        log(LogLevel::kError, "request failed");
      }
      write_and_close(receiver_.overloaded(), response);
    });
  }

  // Everything that can be judged by the head. The framing must be plain: what two programs could
  // read in two ways is refused.
  std::optional<Answer> refuse_early(const httplib::Request& request) const {
    if (request.target.size() > kTargetBytesMax) return problem_answer(414, "target too long");
    if (request.headers.size() > settings_.headers_max)
      return problem_answer(431, "too many headers");
    const auto length = body_length(request);
    if (length.malformed) return problem_answer(400, "ambiguous body length");
    // A body just over the limit is read first, so that the sender is done writing when it is
    // refused.
    const bool is_far_over = length.bytes.value_or(0) > receiver_.body_bytes_max() + kDrainBytesMax;
    if (auto refused = receiver_.refuse_early(request.method, path_of(request),
                                              is_far_over ? length.bytes : std::nullopt)) {
      return refused;
    }
    const bool has_body = length.chunked || length.bytes.value_or(0) > 0;
    if (request.method != "POST") {
      if (has_body) return problem_answer(400, "unexpected body");
      return std::nullopt;
    }
    if (!length.chunked && !length.bytes) return problem_answer(411, "length required");
    // The library would decode or take apart such bodies, and only raw bytes can be verified.
    if (request.has_header("Content-Encoding") &&
        !equal_ignoring_case(request.get_header_value("Content-Encoding"), "identity")) {
      return problem_answer(415, "content encoding not understood");
    }
    if (request.is_multipart_form_data()) return problem_answer(415, "multipart not understood");
    return std::nullopt;
  }

  static std::string_view path_of(const httplib::Request& request) {
    return std::string_view{request.target}.substr(0, request.target.find('?'));
  }

  std::optional<Answer> read_body(const httplib::ContentReader& reader, std::string& body) const {
    const auto limit = receiver_.body_bytes_max();
    const auto deadline = std::chrono::steady_clock::now() + settings_.request_timeout;
    std::size_t read = 0;
    bool late = false;
    const bool whole = reader([&](const char* data, std::size_t length) {
      read += length;
      late = std::chrono::steady_clock::now() > deadline;
      if (read <= limit) body.append(data, length);
      return !late && read <= limit + kDrainBytesMax;
    });
    if (late) return problem_answer(408, "request took too long");
    if (read > limit) return problem_answer(413, "body too large");
    if (!whole) return problem_answer(400, "body incomplete");
    return std::nullopt;
  }

  void answer(const httplib::Request& request, std::string body, httplib::Response& response) {
    InboundRequest inbound;
    inbound.method = request.method;
    inbound.target = request.target;
    inbound.remote_address = request.remote_addr;
    for (const auto& [name, value] : request.headers) {
      if (!is_added_by_library(name)) inbound.headers.push_back({name, value});
    }
    inbound.body = std::move(body);

    const auto pending = std::make_shared<PendingAnswer>();
    receiver_.receive(std::move(inbound),
                      [pending](Answer given) { pending->set(std::move(given)); });
    const auto given = pending->wait_for(settings_.answer_timeout);
    write(given ? *given : receiver_.overloaded(), response);
  }

  const ListenerSettings settings_;
  Receiver& receiver_;
  WideBacklogServer server_;
  int port_ = -1;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Listener> make_httplib_listener(ListenerSettings settings, Receiver& receiver) {
  return std::make_unique<HttplibListener>(std::move(settings), receiver);
}

}  // namespace hookgate
