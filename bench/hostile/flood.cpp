// Sends requests that no honest sender would, as fast as asked, to one address of this machine, and
// counts the answers. Ends by itself.
//   flood PORT PATH KIND REQUESTS_A_SECOND SECONDS CONNECTIONS
// KIND: unsigned, malformed, stale (all three can be told by the head) or forged (only the whole
// body tells). Every request announces a body of 1 MiB. Forged ones send it; of the others the
// sender waits after the first 16 KiB, as it would be told no by then: so it can make the most
// requests. Prints one line of JSON.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBodyBytes = 1024 * 1024;
constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::size_t kFirstBytes = 16 * 1024;

struct Connection {
  int socket = -1;
  std::size_t head_sent = 0;
  std::size_t body_sent = 0;
  std::string answer;
};

std::string head_of(const std::string& path, const std::string& kind) {
  std::string head =
      "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  head += "Content-Length: " + std::to_string(kBodyBytes) + "\r\n";
  const std::string signature(64, 'a');
  if (kind == "malformed") head += "Stripe-Signature: t=,v1=none\r\n";
  if (kind == "stale") head += "Stripe-Signature: t=1000000000,v1=" + signature + "\r\n";
  if (kind == "forged")
    head +=
        "Stripe-Signature: t=" + std::to_string(std::time(nullptr)) + ",v1=" + signature + "\r\n";
  return head + "\r\n";
}

class Flood {
 public:
  Flood(int port, std::string head, std::size_t sent_bytes, std::size_t connections)
      : head_(std::move(head)),
        piece_(kPieceBytes, 'a'),
        sent_bytes_(sent_bytes),
        connections_(connections) {
    address_.sin_family = AF_INET;
    address_.sin_port = htons(static_cast<std::uint16_t>(port));
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  }

  void run(double rate, double seconds) {
    const auto began = Clock::now();
    std::vector<std::size_t> free(connections_.size());
    for (std::size_t i = 0; i < free.size(); ++i) free[i] = i;
    std::array<epoll_event, 256> events{};
    double passed = 0;
    while (passed < seconds) {
      const auto due = static_cast<std::uint64_t>(rate * passed);
      while (begun_ < due && !free.empty()) {
        if (!begin(free.back())) break;
        free.pop_back();
      }
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 1);
      for (int i = 0; i < count; ++i) {
        const auto number =
            static_cast<std::size_t>(events.at(static_cast<std::size_t>(i)).data.u64);
        if (go_on(connections_[number])) continue;
        end(connections_[number]);
        free.push_back(number);
      }
      passed = std::chrono::duration<double>(Clock::now() - began).count();
    }
    for (auto& connection : connections_) ::close(connection.socket);
    std::printf("{\"begun\": %llu, \"per_second\": %.0f, \"body_mib\": %.1f, \"answers\": {",
                static_cast<unsigned long long>(begun_), static_cast<double>(begun_) / passed,
                static_cast<double>(body_bytes_) / 1048576.0);
    const char* separator = "";
    for (const auto& [status, number] : answers_) {
      std::printf("%s\"%s\": %llu", separator, status.c_str(),
                  static_cast<unsigned long long>(number));
      separator = ", ";
    }
    std::printf("}}\n");
  }

 private:
  bool begin(std::size_t number) {
    auto& connection = connections_[number];
    connection = {};
    connection.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection.socket < 0) return false;
    ::connect(connection.socket, reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT;
    event.data.u64 = number;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.socket, &event);
    ++begun_;
    return true;
  }

  // False when the request is over.
  bool go_on(Connection& connection) {
    std::array<char, 4096> buffer{};
    const auto got = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
    if (got > 0) connection.answer.append(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0 || connection.answer.size() > 12) return false;
    if (got < 0 && errno != EAGAIN) return false;
    while (connection.body_sent < sent_bytes_) {
      const bool is_head = connection.head_sent < head_.size();
      const auto rest = is_head ? std::string_view{head_}.substr(connection.head_sent)
                                : std::string_view{piece_}.substr(
                                      0, std::min(kPieceBytes, sent_bytes_ - connection.body_sent));
      const auto sent = ::send(connection.socket, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN;
      (is_head ? connection.head_sent : connection.body_sent) += static_cast<std::size_t>(sent);
      if (!is_head) body_bytes_ += static_cast<std::size_t>(sent);
      if (!is_head && static_cast<std::size_t>(sent) < rest.size()) return true;
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = static_cast<std::uint64_t>(&connection - connections_.data());
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.socket, &event);
    return true;
  }

  void end(Connection& connection) {
    const bool is_answered = connection.answer.starts_with("HTTP/1.1 ");
    ++answers_[is_answered ? connection.answer.substr(9, 3) : "none"];
    ::close(connection.socket);
    connection.socket = -1;
  }

  sockaddr_in address_{};
  std::string head_;
  std::string piece_;
  std::size_t sent_bytes_;
  std::vector<Connection> connections_;
  int epoll_ = -1;
  std::uint64_t begun_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::map<std::string, std::uint64_t> answers_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: flood PORT PATH KIND REQUESTS_A_SECOND SECONDS CONNECTIONS\n");
    return 2;
  }
  const std::string kind = argv[3];
  Flood flood{std::atoi(argv[1]), head_of(argv[2], kind),
              kind == "forged" ? kBodyBytes : kFirstBytes,
              static_cast<std::size_t>(std::atoi(argv[6]))};
  flood.run(std::atof(argv[4]), std::atof(argv[5]));
}
