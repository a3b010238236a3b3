#include "raw_server.h"

#include <array>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hookgate {

RawServer::RawServer(Serve serve) : serve_(std::move(serve)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  ::listen(listener_, 64);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread{[this] { accept_all(); }};
}

RawServer::~RawServer() {
  ends_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  for (auto& thread : threads_) thread.join();
  for (const int socket : sockets_) ::close(socket);
  ::close(listener_);
}

void RawServer::accept_all() {
  while (!ends_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    ++count_;
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] {
      serve_(socket);
      ::shutdown(socket, SHUT_RDWR);
    });
  }
}

std::string read_request(int socket) {
  std::string bytes;
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto head = bytes.find("\r\n\r\n");
    const auto length = bytes.find("Content-Length: ");
    if (head != std::string::npos &&
        (length == std::string::npos ||
         bytes.size() >= head + 4 + std::stoul(bytes.substr(length + 16))))
      return bytes;
    const auto got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

bool write_all(int socket, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto wrote = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (wrote <= 0) return false;
    sent += static_cast<std::size_t>(wrote);
  }
  return true;
}

}  // namespace hookgate
