#include "cli/load_generator_connection.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

namespace hookgate {
namespace {

constexpr std::size_t kHeadBytesMax = std::size_t{16} * 1024;
constexpr std::size_t kBodyBytesMax = std::size_t{1024} * 1024;
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kVersion = "HTTP/1.1 ";

std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || text.empty()) return std::nullopt;
  return value;
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

struct Head {
  LoadAnswer answer;
  std::optional<std::size_t> length;
  bool is_understood = true;
};

void read_header(std::string_view line, Head& head) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) {
    head.is_understood = false;
    return;
  }
  const auto name = line.substr(0, colon);
  const auto value = without_blanks(line.substr(colon + 1));
  if (equal_ignoring_case(name, "Content-Length")) {
    head.length = number_of(value);
    head.is_understood = head.is_understood && head.length.has_value();
  } else if (equal_ignoring_case(name, "Connection")) {
    head.answer.closes = equal_ignoring_case(value, "close");
  } else if (equal_ignoring_case(name, "Idempotent-Replayed")) {
    head.answer.replayed = equal_ignoring_case(value, "true");
  } else if (equal_ignoring_case(name, "Transfer-Encoding")) {
    head.is_understood = false;
  }
}

Head read_head(std::string_view text) {
  Head head;
  const auto status_end = std::min(text.find("\r\n"), text.size());
  const auto status = text.substr(0, status_end);
  text.remove_prefix(std::min(status_end + 2, text.size()));
  const auto code = status.size() >= kVersion.size() + 3
                        ? number_of(status.substr(kVersion.size(), 3))
                        : std::nullopt;
  if (!status.starts_with(kVersion) || !code || *code < 200) {
    head.is_understood = false;
    return head;
  }
  head.answer.status = static_cast<int>(*code);
  while (!text.empty()) {
    const auto end = std::min(text.find("\r\n"), text.size());
    read_header(text.substr(0, end), head);
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  if (*code == 204 || *code == 304) head.length = 0;
  return head;
}

}  // namespace

std::variant<LoadAnswer, IncompleteAnswer, MalformedAnswer> read_answer(std::string_view text) {
  const auto head_bytes = text.find(kHeadEnd);
  if (head_bytes == std::string_view::npos) {
    if (text.size() > kHeadBytesMax) return MalformedAnswer{};
    return IncompleteAnswer{};
  }
  auto head = read_head(text.substr(0, head_bytes));
  if (!head.is_understood || !head.length || *head.length > kBodyBytesMax) return MalformedAnswer{};
  const auto body_at = head_bytes + kHeadEnd.size();
  if (text.size() < body_at + *head.length) return IncompleteAnswer{};
  head.answer.body = text.substr(body_at, *head.length);
  head.answer.bytes = body_at + *head.length;
  return head.answer;
}

LoadAddress resolve(const LoadTarget& target) {
  LoadAddress address;
  if (!target.unix_path.empty()) {
    sockaddr_un name{};
    if (target.unix_path.size() >= sizeof name.sun_path)
      throw LoadError("the socket's path is too long");
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, target.unix_path.c_str(), target.unix_path.size() + 1);
    std::memcpy(&address.bytes, &name, sizeof name);
    address.size = sizeof name;
    return address;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error =
      getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner{list, [](addrinfo* entry) {
                                                               if (entry != nullptr)
                                                                 freeaddrinfo(entry);
                                                             }};
  if (error != 0) throw LoadTargetUnreachable("'" + target.host + "': " + gai_strerror(error));
  // A name such as localhost may stand for two addresses of which one listens.
  for (const auto* entry = list; entry != nullptr; entry = entry->ai_next) {
    std::memcpy(&address.bytes, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    if (entry->ai_next == nullptr) break;
    const int fd = socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval limit{3, 0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const bool listens = ::connect(fd, entry->ai_addr, entry->ai_addrlen) == 0;
    if (fd >= 0) ::close(fd);
    if (listens) break;
  }
  return address;
}

LoadConnection::Io LoadConnection::connect(const LoadAddress& address) {
  close();
  fd = socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Io::kFailed;
  if (address.bytes.ss_family != AF_UNIX) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  state = State::kConnecting;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address.bytes), address.size) == 0) {
    state = State::kIdle;
    return Io::kDone;
  }
  if (errno == EINPROGRESS) return Io::kAgain;
  close();
  return Io::kFailed;
}

LoadConnection::Io LoadConnection::finish_connect() {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return Io::kFailed;
  state = State::kIdle;
  return Io::kDone;
}

void LoadConnection::close() {
  if (fd >= 0) ::close(fd);
  fd = -1;
  state = State::kDown;
  waits_for_room = false;
  in.clear();
}

LoadConnection::Io LoadConnection::flush() {
  while (out_sent < out.size()) {
    const auto sent = send(fd, out.data() + out_sent, out.size() - out_sent, MSG_NOSIGNAL);
    if (sent > 0) {
      out_sent += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      return Io::kAgain;
    } else if (errno != EINTR) {
      return Io::kFailed;
    }
  }
  return Io::kDone;
}

LoadConnection::Io LoadConnection::read() {
  std::array<char, std::size_t{8} * 1024> buffer;  // NOLINT: written before it is read
  for (;;) {
    const auto got = recv(fd, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      in.append(buffer.data(), static_cast<std::size_t>(got));
      return Io::kDone;  // level-triggered: what is left is told again
    }
    if (got == 0) return Io::kFailed;
    if (errno == EAGAIN) return Io::kAgain;
    if (errno != EINTR) return Io::kFailed;
  }
}

}  // namespace hookgate
