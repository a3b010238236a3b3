#include "outbox/transfer_watch.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hookgate {
namespace {

constexpr std::chrono::milliseconds kTick{20};

}  // namespace

Transfer::~Transfer() {
  if (socket_ >= 0) ::close(socket_);
}

void Transfer::adopt(int socket) {
  const std::scoped_lock lock{mutex_};
  if (socket_ >= 0) ::close(socket_);
  socket_ = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
  adopted_ = true;
  received_before_ = 0;
}

void Transfer::begin(Limits limits) {
  const std::scoped_lock lock{mutex_};
  limits_ = std::move(limits);
  cut_ = Cut::kNone;
  adopted_ = false;
  runs_ = true;
  received_before_ = received_bytes();
}

Transfer::Cut Transfer::end() {
  const std::scoped_lock lock{mutex_};
  runs_ = false;
  limits_.abort = {};
  return cut_;
}

bool Transfer::adopted_since_begin() const {
  const std::scoped_lock lock{mutex_};
  return adopted_;
}

void Transfer::check(std::chrono::steady_clock::time_point now) {
  const std::scoped_lock lock{mutex_};
  if (!runs_) return;
  if (cut_ == Cut::kNone) {
    if (limits_.abort.stop_requested()) {
      cut_ = Cut::kAborted;
    } else if (now >= limits_.deadline) {
      cut_ = Cut::kDeadline;
    } else if (received_bytes() > received_before_ + limits_.received_bytes_max) {
      cut_ = Cut::kTooMuch;
    }
  }
  // Again at every look: the client may have gone on to another connection.
  if (cut_ != Cut::kNone && socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
}

// Over the connection's life, as the kernel counts; TLS included.
std::uint64_t Transfer::received_bytes() const {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (socket_ < 0 || ::getsockopt(socket_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_received;
}

TransferWatch::TransferWatch() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

TransferWatch::~TransferWatch() = default;

void TransferWatch::enter(Transfer& transfer) {
  {
    const std::scoped_lock lock{mutex_};
    running_.push_back(&transfer);
  }
  entered_.notify_one();
}

void TransferWatch::leave(Transfer& transfer) {
  const std::scoped_lock lock{mutex_};
  std::erase(running_, &transfer);
}

void TransferWatch::run(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    if (running_.empty()) {
      entered_.wait(lock, stop, [this] { return !running_.empty(); });
      continue;
    }
    entered_.wait_for(lock, stop, kTick, [] { return false; });
    const auto now = std::chrono::steady_clock::now();
    for (auto* transfer : running_) transfer->check(now);
  }
}

}  // namespace hookgate
