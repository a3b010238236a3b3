#include "postgres_proxy.h"

#include <array>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "store/connection.h"

namespace hookgate {
namespace {

constexpr int kTickMs = 20;

void send_all(int fd, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto count = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

int connect_to(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

bool is_readable(int fd, int limit_ms) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, limit_ms) > 0;
}

}  // namespace

struct PostgresProxy::Session {
  int client = -1;
  int server = -1;
  std::string sent;  // by the client, its beginning
  std::thread thread;
};

PostgresProxy::PostgresProxy(const Secret& server) {
  auto parameters = connection_parameters(server);
  server_path_ = parameters["host"] + "/.s.PGSQL." + parameters["port"];
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("the proxy cannot listen");
  }
  parameters["host"] = "127.0.0.1";
  parameters["port"] = std::to_string(ntohs(address.sin_port));
  url_ = Secret{connection_string(parameters)};
  acceptor_ = std::thread{[this] { accept_sessions(); }};
}

PostgresProxy::~PostgresProxy() {
  stopping_ = true;
  acceptor_.join();
  for (auto& session : sessions_) session->thread.join();
  ::close(listener_);
}

void PostgresProxy::accept_sessions() {
  while (!stopping_) {
    if (!is_readable(listener_, kTickMs)) continue;
    auto session = std::make_unique<Session>();
    session->client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    session->server = connect_to(server_path_);
    auto& made = *session;
    session->thread = std::thread{[this, &made] {
      if (made.client >= 0 && made.server >= 0) serve(made);
      ::close(made.client);
      ::close(made.server);
    }};
    sessions_.push_back(std::move(session));
  }
}

void PostgresProxy::serve(Session& session) {
  constexpr std::size_t kBeginning = 16UL * 1024;
  constexpr int kAnswerMs = 10'000;
  std::array<char, 65536> buffer{};
  bool is_frozen = false;
  while (!stopping_) {
    if (!is_frozen && is_to_be_frozen(session.sent)) {
      is_frozen = true;
      ++frozen_;
    }
    if (is_frozen) {
      ::poll(nullptr, 0, kTickMs);
      continue;
    }
    std::array<pollfd, 2> fds{pollfd{session.client, POLLIN, 0}, pollfd{session.server, POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), kTickMs) <= 0) continue;
    for (const auto& one : fds) {
      if (one.revents == 0) continue;
      const auto count = ::recv(one.fd, buffer.data(), buffer.size(), 0);
      if (count <= 0) return;
      const std::string bytes{buffer.data(), static_cast<std::size_t>(count)};
      const bool is_clients = one.fd == session.client;
      send_all(is_clients ? session.server : session.client, bytes);
      if (!is_clients) continue;
      if (session.sent.size() < kBeginning) session.sent += bytes;
      if (is_to_be_cut(bytes)) {
        is_readable(session.server, kAnswerMs);
        ++cuts_;
        return;
      }
    }
  }
}

void PostgresProxy::cut_after(std::string text) {
  const std::scoped_lock lock{mutex_};
  cut_after_ = std::move(text);
}

bool PostgresProxy::is_to_be_cut(const std::string& bytes) {
  const std::scoped_lock lock{mutex_};
  if (cut_after_.empty() || bytes.find(cut_after_) == std::string::npos) return false;
  cut_after_.clear();
  return true;
}

void PostgresProxy::freeze(std::string text) {
  const std::scoped_lock lock{mutex_};
  freeze_ = std::move(text);
}

bool PostgresProxy::is_to_be_frozen(const std::string& bytes) {
  const std::scoped_lock lock{mutex_};
  return !freeze_.empty() && bytes.find(freeze_) != std::string::npos;
}

}  // namespace hookgate
