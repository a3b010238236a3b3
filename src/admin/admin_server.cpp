#include "admin/admin_server.h"

#include <thread>

#include <httplib.h>
#include <sys/socket.h>

namespace hookgate {
namespace {

// Same time for any wrong token of the right length.
bool equal_in_constant_time(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

void answer(httplib::Response& response, int status, const std::string& body) {
  response.status = status;
  response.set_content(body, "application/json");
}

}  // namespace

class AdminServer::Impl {
 public:
  Impl(AdminSettings settings, std::function<bool()> is_ready)
      : settings_(std::move(settings)), is_ready_(std::move(is_ready)) {}

  void start() {
    server_.set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    server_.set_tcp_nodelay(true);
    server_.set_keep_alive_timeout(1);
    server_.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
      answer(response, 200, R"({"status":"ok"})");
    });
    server_.Get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
      is_ready_() ? answer(response, 200, R"({"status":"ready"})")
                  : answer(response, 503, R"({"status":"not ready"})");
    });
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          const bool is_probe = request.path == "/healthz" || request.path == "/readyz";
          if (is_probe || is_authorized(request))
            return httplib::Server::HandlerResponse::Unhandled;
          response.set_header("WWW-Authenticate", "Bearer realm=\"hookgate\"");
          answer(response, 401,
                 R"({"type":"about:blank","title":"bearer token required","status":401})");
          return httplib::Server::HandlerResponse::Handled;
        });
    port_ = settings_.port;
    if (port_ == 0) {
      port_ = server_.bind_to_any_port(settings_.host);
    } else if (!server_.bind_to_port(settings_.host, port_)) {
      port_ = -1;
    }
    if (port_ < 0) {
      throw std::runtime_error("cannot listen on " + settings_.host + ":" +
                               std::to_string(settings_.port) +
                               " ([admin] listen): address in use or not ours");
    }
    thread_ = std::thread{[this] { server_.listen_after_bind(); }};
    while (!server_.is_running()) std::this_thread::yield();
  }

  void stop() noexcept {
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
  }

  std::string address() const {
    const bool is_ipv6 = settings_.host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + settings_.host + "]" : settings_.host) + ":" + std::to_string(port_);
  }

 private:
  bool is_authorized(const httplib::Request& request) const {
    if (!settings_.token) return true;
    return equal_in_constant_time(request.get_header_value("Authorization"),
                                  "Bearer " + settings_.token->reveal());
  }

  const AdminSettings settings_;
  const std::function<bool()> is_ready_;
  httplib::Server server_;
  int port_ = -1;
  std::thread thread_;
};

AdminServer::AdminServer(AdminSettings settings, std::function<bool()> is_ready)
    : impl_(std::make_unique<Impl>(std::move(settings), std::move(is_ready))) {}
AdminServer::~AdminServer() {
  stop();
}
void AdminServer::start() {
  impl_->start();
}
void AdminServer::stop() noexcept {
  impl_->stop();
}
std::string AdminServer::address() const {
  return impl_->address();
}

}  // namespace hookgate
