#include "raw_socket.h"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hookgate {
namespace {

using std::chrono::steady_clock;

sockaddr_in ipv4_address(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    throw std::runtime_error("not an IPv4 address: " + host);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);  // NOLINT: what the system call takes
}

void set_option(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

RawAnswer parse_head(std::string_view head) {
  RawAnswer answer;
  auto line_end = head.find("\r\n");
  const auto status_line = head.substr(0, line_end);
  const auto blank = status_line.find(' ');
  if (blank != std::string_view::npos)
    answer.status = std::atoi(std::string{status_line.substr(blank + 1, 3)}.c_str());
  while (line_end != std::string_view::npos && line_end + 2 < head.size()) {
    head.remove_prefix(line_end + 2);
    line_end = head.find("\r\n");
    const auto line = head.substr(0, line_end);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    answer.headers.push_back(
        {std::string{line.substr(0, colon)}, std::string{trim(line.substr(colon + 1))}});
  }
  return answer;
}

}  // namespace

std::string RawAnswer::header(std::string_view name) const {
  const auto found = std::ranges::find_if(
      headers, [&](const Header& header) { return equal_ignoring_case(header.name, name); });
  return found == headers.end() ? "" : found->value;
}

std::vector<int> statuses_of(const std::vector<RawAnswer>& answers) {
  std::vector<int> statuses;
  statuses.reserve(answers.size());
  for (const auto& answer : answers) statuses.push_back(answer.status);
  return statuses;
}

RawSocket::RawSocket(const std::string& address, const RawSocketOptions& options)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (options.send_buffer_bytes > 0)
    set_option(socket_, SOL_SOCKET, SO_SNDBUF, options.send_buffer_bytes);
  if (options.receive_buffer_bytes > 0)
    set_option(socket_, SOL_SOCKET, SO_RCVBUF, options.receive_buffer_bytes);
  if (!options.local_address.empty()) {
    const auto local = ipv4_address(options.local_address, 0);
    if (::bind(socket_, generic(local), sizeof local) != 0) {
      ::close(socket_);
      throw std::runtime_error("cannot bind to " + options.local_address);
    }
  }
  const auto colon = address.rfind(':');
  const auto peer =
      ipv4_address(address.substr(0, colon), std::atoi(address.substr(colon + 1).c_str()));
  if (::connect(socket_, generic(peer), sizeof peer) != 0) {
    ::close(socket_);
    throw std::runtime_error("cannot connect to " + address);
  }
  ::fcntl(socket_, F_SETFL, O_NONBLOCK);
  set_option(socket_, IPPROTO_TCP, TCP_NODELAY, 1);
}

RawSocket::~RawSocket() {
  if (socket_ >= 0) ::close(socket_);
}

RawSocket::RawSocket(RawSocket&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      state_(other.state_),
      input_(std::move(other.input_)) {}

RawSocket& RawSocket::operator=(RawSocket&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(state_, other.state_);
  input_.swap(other.input_);
  return *this;
}

bool RawSocket::wait_until_ready(short events, Deadline deadline) const {
  const auto left = std::chrono::ceil<Milliseconds>(deadline - steady_clock::now()).count();
  pollfd entry{socket_, events, 0};
  return ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) > 0;
}

std::size_t RawSocket::send(std::string_view bytes, Milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno != EAGAIN || !wait_until_ready(POLLOUT, deadline)) {
      break;
    }
  }
  return sent;
}

std::size_t RawSocket::send_bytewise(std::string_view bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size() && send(bytes.substr(sent, 1)) == 1) ++sent;
  return sent;
}

void RawSocket::end_sending() {
  ::shutdown(socket_, SHUT_WR);
}

void RawSocket::reset() {
  const linger at_once{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(std::exchange(socket_, -1));
}

// False when nothing came: closed, or the time is over.
bool RawSocket::receive(Deadline deadline, std::size_t bytes_max) {
  if (state_ != State::kOpen || !wait_until_ready(POLLIN, deadline)) return false;
  std::string chunk(bytes_max, '\0');
  const auto count = ::recv(socket_, chunk.data(), chunk.size(), 0);
  if (count > 0) {
    input_.append(chunk, 0, static_cast<std::size_t>(count));
    return true;
  }
  if (count == 0) {
    state_ = State::kClosed;
  } else if (errno != EAGAIN && errno != EINTR) {
    state_ = State::kReset;
  }
  return false;
}

// False while the next answer is not whole.
bool RawSocket::take_answer(RawAnswer& answer, bool to_head) {
  const auto head_end = input_.find("\r\n\r\n");
  if (head_end == std::string::npos) return false;
  answer = parse_head(std::string_view{input_}.substr(0, head_end));
  const auto body_begin = head_end + 4;
  const auto length_text = answer.header("Content-Length");
  if (answer.is_interim() || (to_head && state_ == State::kOpen)) {
    input_.erase(0, body_begin);
    return true;
  }
  if (length_text.empty() && state_ == State::kOpen) return false;
  const auto length = length_text.empty() ? input_.size() - body_begin : std::stoul(length_text);
  if (input_.size() - body_begin < length && state_ == State::kOpen) return false;
  answer.body = input_.substr(body_begin, length);
  input_.erase(0, body_begin + length);
  return true;
}

std::optional<RawAnswer> RawSocket::read_answer(Milliseconds limit, bool to_head) {
  const auto deadline = steady_clock::now() + limit;
  RawAnswer answer;
  while (!take_answer(answer, to_head)) {
    const bool was_open = state_ == State::kOpen;
    // The end of the connection may be what the answer waited for, so that is looked at once more.
    if (!was_open ||
        (!receive(deadline) && state_ == State::kOpen && steady_clock::now() >= deadline))
      return std::nullopt;
  }
  return answer;
}

std::vector<RawAnswer> RawSocket::read_answers(std::size_t count, Milliseconds limit,
                                               bool to_head) {
  const auto deadline = steady_clock::now() + limit;
  std::vector<RawAnswer> answers;
  while (count > 0) {
    const auto left = std::chrono::ceil<Milliseconds>(deadline - steady_clock::now());
    auto answer = read_answer(left, to_head);
    if (!answer) break;
    if (!answer->is_interim()) --count;
    answers.push_back(std::move(*answer));
  }
  return answers;
}

RawSocket::State RawSocket::wait_for_close(Milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  while (state_ == State::kOpen && steady_clock::now() < deadline) receive(deadline);
  return state_;
}

std::string RawSocket::read_some(std::size_t bytes_max, Milliseconds limit) {
  if (input_.empty()) receive(steady_clock::now() + limit, bytes_max);
  auto taken = input_.substr(0, bytes_max);
  input_.erase(0, taken.size());
  return taken;
}

bool refuses_connections(const std::string& address) {
  try {
    const RawSocket socket{address};
    return false;
  } catch (const std::runtime_error&) {
    return true;
  }
}

}  // namespace hookgate
