#include "ingest/listening_socket.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ingest/listener.h"

namespace hookgate {
namespace {

constexpr int kBacklog = 1024;
constexpr mode_t kUnixSocketMode = 0660;

std::string reason(int error) {
  return std::generic_category().message(error);
}

[[noreturn]] void fail(const std::string& where, const std::string& why) {
  throw ListenError("cannot listen on " + where + ": " + why);
}

std::string with_port(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

void set_option(int socket, int level, int option) {
  const int on = 1;
  ::setsockopt(socket, level, option, &on, sizeof on);
}

int bound_port(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

std::optional<IpAddress> peer_address(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.ss_family == AF_INET)
    bytes = &reinterpret_cast<const sockaddr_in*>(&address)->sin_addr;
  if (address.ss_family == AF_INET6)
    bytes = &reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr;
  if (bytes == nullptr ||
      ::inet_ntop(address.ss_family, bytes, text.data(), text.size()) == nullptr)
    return std::nullopt;
  return IpAddress::parse(text.data());
}

// A socket file stays behind when its process is killed; then nobody answers there.
void remove_leftover(const sockaddr_un& address, const std::string& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) return;
  if (!S_ISSOCK(file.st_mode)) fail("unix:" + path, "the file exists and is no socket");
  const FileDescriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int connected =
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (connected == 0) fail("unix:" + path, "another process listens there");
  if (errno == ECONNREFUSED) ::unlink(path.c_str());
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

int FileDescriptor::release() {
  return std::exchange(number_, -1);
}

void FileDescriptor::close() {
  if (number_ >= 0) ::close(release());
}

void ListeningSocket::open_tcp(const std::string& host, int port) {
  const auto where = with_port(host, port);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) fail(where, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses{found, ::freeaddrinfo};

  FileDescriptor socket{::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (socket.get() < 0) fail(where, reason(errno));
  // Not SO_REUSEPORT, with which two processes would share the port without a word.
  set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR);
  if (::bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(socket.get(), kBacklog) != 0)
    fail(where, reason(errno));
  address_ = with_port(host, bound_port(socket.get()));
  socket_ = std::move(socket);
}

void ListeningSocket::open_unix(const std::string& path) {
  const auto where = "unix:" + path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    fail(where,
         "a path of 1 to " + std::to_string(sizeof address.sun_path - 1) + " bytes is needed");
  std::memcpy(address.sun_path, path.data(), path.size());
  remove_leftover(address, path);

  FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (socket.get() < 0) fail(where, reason(errno));
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail(where, reason(errno));
  unix_path_ = path;
  if (::chmod(path.c_str(), kUnixSocketMode) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    const auto why = reason(errno);
    close();
    fail(where, why);
  }
  address_ = where;
  socket_ = std::move(socket);
}

std::optional<Peer> ListeningSocket::accept(AcceptError& error) {
  error = AcceptError::kNone;
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  while (true) {
    FileDescriptor socket{::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size,
                                    SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (socket.get() >= 0) {
      if (unix_path_.empty()) set_option(socket.get(), IPPROTO_TCP, TCP_NODELAY);
      return Peer{std::move(socket), peer_address(address)};
    }
    // The peer went away while it waited: the next one may be there.
    if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
    const bool is_out_of_resources =
        errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    error = is_out_of_resources ? AcceptError::kNoDescriptors : AcceptError::kAgainLater;
    return std::nullopt;
  }
}

int ListeningSocket::duplicate() const {
  return ::fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0);
}

void ListeningSocket::close() {
  socket_.close();
  if (!unix_path_.empty()) ::unlink(unix_path_.c_str());
  unix_path_.clear();
}

}  // namespace hookgate
