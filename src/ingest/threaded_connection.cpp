#include "ingest/threaded_connection.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "domain/time.h"
#include "ingest/answers.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

// Read and dropped behind the last request before the connection closes, so that a sender that is
// still writing gets to see the answer.
constexpr std::size_t kLingerBytesMax = 64UL * 1024;
constexpr std::chrono::seconds kLingerTime{2};

// The answer of one request, given by a writer thread, waited for by the request's thread.
class PendingAnswer {
 public:
  void set(Answer answer) {
    {
      const std::scoped_lock lock{mutex_};
      if (!answer_) answer_ = std::move(answer);
    }
    given_.notify_one();
  }
  std::optional<Answer> wait_for(std::chrono::milliseconds limit) {
    std::unique_lock lock{mutex_};
    given_.wait_for(lock, limit, [this] { return answer_.has_value(); });
    return std::move(answer_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  std::optional<Answer> answer_;  // guarded by mutex_
};

std::string peer_address(int socket) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  std::array<char, 64> host{};
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &length) != 0 ||           // NOLINT
      ::getnameinfo(reinterpret_cast<sockaddr*>(&peer), length, host.data(), host.size(),  // NOLINT
                    nullptr, 0, NI_NUMERICHOST) != 0)
    return "";
  const auto address = IpAddress::parse(host.data());
  return address ? address->text() : host.data();
}

RequestLimits limits(const ThreadedConnections& all) {
  return {all.settings.head_bytes_max, all.settings.target_bytes_max, all.settings.headers_max,
          all.receiver.body_bytes_max()};
}

}  // namespace

ThreadedConnections::ThreadedConnections(ListenerSettings listener_settings,
                                         Receiver& request_receiver)
    : settings(std::move(listener_settings)),
      receiver(request_receiver),
      stopping_(::eventfd(0, EFD_CLOEXEC)) {}

void ThreadedConnections::add(int socket) {
  const std::scoped_lock lock{mutex_};
  sockets_.insert(socket);
  if (settings.metrics != nullptr) settings.metrics->set_connections(sockets_.size());
}

void ThreadedConnections::remove(int socket) {
  const std::scoped_lock lock{mutex_};
  sockets_.erase(socket);
  if (settings.metrics != nullptr) settings.metrics->set_connections(sockets_.size());
  removed_.notify_all();
}

void ThreadedConnections::stop() {
  is_stopping_ = true;
  ::eventfd_write(stopping_.get(), 1);
  std::unique_lock lock{mutex_};
  removed_.wait_for(lock, settings.shutdown_grace, [this] { return sockets_.empty(); });
  for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
}

bool ThreadedConnections::count_body(std::size_t before, std::size_t now) {
  const auto change = now - before;  // may wrap; the sum then does too
  return (buffered_bytes_ += change) <= settings.buffered_bytes_max || now == 0;
}

ThreadedConnection::ThreadedConnection(FileDescriptor socket, ThreadedConnections& all)
    : socket_(std::move(socket)),
      all_(all),
      address_(peer_address(socket_.get())),
      parser_(limits(all)) {
  all_.add(socket_.get());
}

ThreadedConnection::~ThreadedConnection() {
  count_body(0);
  all_.remove(socket_.get());
}

void ThreadedConnection::serve() {
  while (wait_for_request() && serve_request()) {
  }
}

// False when nothing more is asked, or nothing more may be.
bool ThreadedConnection::wait_for_request() {
  const auto& settings = all_.settings;
  if (input_.empty()) {
    const auto time = is_first_request_ ? settings.request_timeout : settings.idle_timeout;
    if (!wait_until_ready(POLLIN, Clock::now() + time, true)) return false;
    if (receive(Clock::now()) != Received::kBytes) return false;
  }
  is_first_request_ = false;
  began_ = Clock::now();
  return true;
}

// False when the connection must not be used for another request.
bool ThreadedConnection::serve_request() {
  const auto refused = read_request();
  using Status = RequestParser::Status;
  const bool is_whole = parser_.status() == Status::kWhole;
  if (!refused && !is_whole) return false;  // the peer is gone
  const bool closes = !is_whole || !parser_.keeps_alive() || all_.is_stopping();
  const bool is_head = is_whole && parser_.request().method == "HEAD";
  auto request = is_whole ? parser_.take() : InboundRequest{};
  count_body(0);
  const auto answer = refused ? *refused : answer_to(std::move(request));
  const bool sent = respond(answer, {parser_.is_http_1_0(), !closes, is_head, {}});
  if (sent && closes) linger();
  return sent && !closes;
}

// Why the request is refused before its body, if it has one, was read. Otherwise it is whole, or
// the peer is gone.
std::optional<Answer> ThreadedConnection::read_request() {
  const auto& settings = all_.settings;
  using Status = RequestParser::Status;
  auto deadline = began_ + std::min(settings.head_timeout, settings.request_timeout);
  while (true) {
    input_.remove_prefix(parser_.feed(input_));
    if (parser_.status() == Status::kJudge) {
      deadline = began_ + settings.request_timeout;
      if (auto refused = judge_head()) return refused;
    }
    if (parser_.status() == Status::kRefused)
      return refusal(problem_answer(parser_.refusal().status, parser_.refusal().title));
    if (!count_body(parser_.request().body.size())) return refusal(all_.receiver.overloaded());
    if (parser_.status() == Status::kWhole) return std::nullopt;
    if (!input_.empty()) continue;
    switch (receive(deadline)) {
      case Received::kBytes: break;
      case Received::kEnd: return refusal(problem_answer(400, "request incomplete"));
      case Received::kLate: return refusal(problem_answer(408, "request took too long"));
      case Received::kFailed: return std::nullopt;
    }
  }
}

std::optional<Answer> ThreadedConnection::judge_head() {
  parser_.set_remote_address(address_);
  auto refused = all_.receiver.refuse_early(parser_.request(), parser_.content_length());
  if (refused) {
    if (!parser_.has_body()) parser_.accept_head();  // whole; the connection stays usable
    return refused;
  }
  parser_.accept_head();
  const bool waits = parser_.status() == RequestParser::Status::kBody && input_.empty();
  if (waits && parser_.expects_continue()) send(kContinueResponse);
  return std::nullopt;
}

Answer ThreadedConnection::refusal(Answer answer) const {
  if (all_.settings.metrics != nullptr)
    all_.settings.metrics->request("", answer.status, Clock::now() - began_);
  return answer;
}

Answer ThreadedConnection::answer_to(InboundRequest request) {
  const auto pending = std::make_shared<PendingAnswer>();
  try {
    all_.receiver.receive(std::move(request),
                          [pending](Answer given) { pending->set(std::move(given)); });
  } catch (const std::exception& error) {
    log(LogLevel::kError, "request failed", {{"reason", std::string_view{error.what()}}});
    return all_.receiver.overloaded();
  }
  auto given = pending->wait_for(all_.settings.answer_timeout);
  return given ? *std::move(given) : all_.receiver.overloaded();
}

bool ThreadedConnection::count_body(std::size_t bytes) {
  return all_.count_body(std::exchange(counted_bytes_, bytes), bytes);
}

bool ThreadedConnection::wait_until_ready(short events, Clock::time_point deadline,
                                          bool until_stop) const {
  std::array<pollfd, 2> entries{{{socket_.get(), events, 0}, {all_.stopping(), POLLIN, 0}}};
  const nfds_t count = until_stop ? 2 : 1;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const auto ready =
        ::poll(entries.data(), count, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready > 0 && entries[0].revents != 0;
  }
}

ThreadedConnection::Received ThreadedConnection::receive(Clock::time_point deadline) {
  while (true) {
    const auto count = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (count > 0) {
      input_ = {buffer_.data(), static_cast<std::size_t>(count)};
      return Received::kBytes;
    }
    if (count == 0) return Received::kEnd;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Received::kFailed;
    if (!wait_until_ready(POLLIN, deadline, false)) return Received::kLate;
  }
}

bool ThreadedConnection::respond(const Answer& answer, ResponseForm form) {
  const auto began = Clock::now();
  const auto date = http_date(
      std::chrono::time_point_cast<SystemTime::duration>(std::chrono::system_clock::now()));
  form.date = date;
  const bool sent = send(serialize_response(answer, form));
  if (all_.settings.metrics != nullptr)
    all_.settings.metrics->stage(Stage::kWrite, Clock::now() - began);
  return sent;
}

bool ThreadedConnection::send(std::string_view bytes) {
  const auto deadline = Clock::now() + all_.settings.write_timeout;
  while (!bytes.empty()) {
    const auto count =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      if (!wait_until_ready(POLLOUT, deadline, false)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void ThreadedConnection::linger() {
  ::shutdown(socket_.get(), SHUT_WR);
  const auto deadline = Clock::now() + kLingerTime;
  std::size_t dropped = 0;
  parser_ = RequestParser{limits(all_)};
  while (dropped < kLingerBytesMax && receive(deadline) == Received::kBytes &&
         Clock::now() < deadline)
    dropped += input_.size();
}

}  // namespace hookgate
