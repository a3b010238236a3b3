#include "admin/admin_server.h"

#include <set>
#include <thread>

#include <httplib.h>
#include <sys/socket.h>

#include "admin/backlog_gauges.h"

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

void refuse(httplib::Response& response, int status, const std::string& title) {
  response.status = status;
  response.set_content(R"({"type":"about:blank","title":")" + title + R"(","status":)" +
                           std::to_string(status) + "}",
                       "application/problem+json");
}

bool is_probe(const std::string& path) {
  return path == "/healthz" || path == "/readyz";
}

}  // namespace

class AdminServer::Impl {
 public:
  Impl(AdminSettings settings, std::function<bool()> is_ready)
      : settings_(std::move(settings)), is_ready_(std::move(is_ready)) {
    if (settings_.metrics != nullptr && settings_.read_backlog) {
      backlog_ = std::make_unique<BacklogGauges>(*settings_.metrics, settings_.read_backlog);
    }
  }

  void start() {
    set_up_server();
    bind();
    if (backlog_) backlog_->start();
    thread_ = std::thread{[this] { server_.listen_after_bind(); }};
    while (!server_.is_running()) std::this_thread::yield();
  }

  void stop() noexcept {
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
    if (backlog_) backlog_->stop();
  }

  std::string address() const {
    const bool is_ipv6 = settings_.host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + settings_.host + "]" : settings_.host) + ":" + std::to_string(port_);
  }

 private:
  void set_up_server() {
    server_.set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    server_.set_tcp_nodelay(true);
    // A refused request's body is not read; on a kept connection it would be taken for the next.
    server_.set_keep_alive_max_count(1);
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          return refuse_early(request, response) ? httplib::Server::HandlerResponse::Handled
                                                 : httplib::Server::HandlerResponse::Unhandled;
        });
    server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      const auto title = response.status == 404 ? "not found" : "request refused";
      refuse(response, response.status, title);
    });
    add_pages();
  }

  void add_pages() {
    const auto get = [this](const std::string& path, httplib::Server::Handler page) {
      pages_.insert(path);
      server_.Get(path, std::move(page));
    };
    get("/healthz", [](const httplib::Request&, httplib::Response& response) {
      answer(response, 200, R"({"status":"ok"})");
    });
    get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
      is_ready_() ? answer(response, 200, R"({"status":"ready"})")
                  : answer(response, 503, R"({"status":"not ready"})");
    });
    if (settings_.metrics == nullptr) return;
    get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      if (backlog_) backlog_->refresh();
      response.set_content(settings_.metrics->text(), "text/plain; version=0.0.4; charset=utf-8");
    });
  }

  void bind() {
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
  }

  bool refuse_early(const httplib::Request& request, httplib::Response& response) const {
    if (!is_probe(request.path) && !is_authorized(request)) {
      response.set_header("WWW-Authenticate", "Bearer realm=\"hookgate\"");
      refuse(response, 401, "bearer token required");
      return true;
    }
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (pages_.contains(request.path) && !reads) {
      response.set_header("Allow", "GET, HEAD");
      refuse(response, 405, "method not allowed");
      return true;
    }
    return false;
  }

  bool is_authorized(const httplib::Request& request) const {
    if (!settings_.token) return true;
    return equal_in_constant_time(request.get_header_value("Authorization"),
                                  "Bearer " + settings_.token->reveal());
  }

  const AdminSettings settings_;
  const std::function<bool()> is_ready_;
  std::unique_ptr<BacklogGauges> backlog_;
  httplib::Server server_;
  std::set<std::string> pages_;
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
