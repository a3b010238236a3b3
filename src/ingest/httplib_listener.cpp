#include <algorithm>
#include <thread>

#include <httplib.h>
#include <sys/socket.h>

#include "ingest/elastic_thread_pool.h"
#include "ingest/listener.h"
#include "ingest/threaded_connection.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

constexpr int kBacklog = 1024;
constexpr std::size_t kThreadsMax = 1024;  // a thread per connection; more connections wait

class PoolAdapter final : public httplib::TaskQueue {
 public:
  explicit PoolAdapter(std::size_t threads_max) : pool_(threads_max) {}
  void enqueue(std::function<void()> work) override { pool_.enqueue(std::move(work)); }
  void shutdown() override { pool_.shutdown(); }

 private:
  ElasticThreadPool pool_;
};

// Accepts, and gives each connection a thread; what happens on the connection is ours. The
// library's own reading passes over what it does not understand in a head (control bytes, folded
// and bare lines), loses pipelined requests and has no total deadlines.
class AcceptingServer final : public httplib::Server {
 public:
  explicit AcceptingServer(std::function<void(FileDescriptor)> serve) : serve_(std::move(serve)) {}
  // The library listens with a backlog of 5; asking the kernel again on the bound socket widens it.
  void widen_backlog() { ::listen(svr_sock_, kBacklog); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    serve_(FileDescriptor{socket});
    return true;
  }

  std::function<void(FileDescriptor)> serve_;
};

class HttplibListener final : public Listener {
 public:
  HttplibListener(ListenerSettings settings, Receiver& receiver)
      : connections_(std::move(settings), receiver),
        server_([this](FileDescriptor socket) { serve(std::move(socket)); }) {}
  ~HttplibListener() override { stop(); }

  void start() override;
  void stop() noexcept override;
  std::string address() const override {
    const auto& host = connections_.settings.host;
    const bool is_ipv6 = host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port_);
  }

 private:
  void serve(FileDescriptor socket) {
    try {
      ThreadedConnection{std::move(socket), connections_}.serve();
    } catch (const std::exception& error) {
      log(LogLevel::kError, "connection failed", {{"reason", std::string_view{error.what()}}});
    }
  }

  ThreadedConnections connections_;
  AcceptingServer server_;
  int port_ = -1;
  std::thread thread_;
};

void HttplibListener::start() {
  const auto& settings = connections_.settings;
  if (settings.port == ListenerSettings::kUnixSocket || !settings.tls_certificate.empty())
    throw ListenError("this listener has neither Unix sockets nor TLS");
  // The default would be SO_REUSEPORT, with which two processes share a port without a word.
  server_.set_socket_options([](socket_t socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
  server_.set_tcp_nodelay(true);
  server_.new_task_queue = [threads = std::min(settings.connections_max, kThreadsMax)] {
    return new PoolAdapter(threads);
  };
  port_ = settings.port;
  if (port_ == 0) {
    port_ = server_.bind_to_any_port(settings.host);
  } else if (!server_.bind_to_port(settings.host, port_)) {
    port_ = -1;
  }
  if (port_ < 0) {
    throw ListenError("cannot listen on " + settings.host + ":" + std::to_string(settings.port) +
                      ": address in use or not ours");
  }
  server_.widen_backlog();
  thread_ = std::thread{[this] { server_.listen_after_bind(); }};
  // A stop() before the library's loop has begun would be lost.
  while (!server_.is_running()) std::this_thread::yield();
}

// The library's loop ends with its pool, which first serves the connections that wait for a thread.
void HttplibListener::stop() noexcept {
  if (!thread_.joinable()) return;
  server_.stop();
  connections_.stop();
  thread_.join();
}

}  // namespace

std::unique_ptr<Listener> make_httplib_listener(ListenerSettings settings, Receiver& receiver) {
  return std::make_unique<HttplibListener>(std::move(settings), receiver);
}

}  // namespace hookgate
