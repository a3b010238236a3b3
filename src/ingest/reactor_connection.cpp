#include "ingest/reactor_connection.h"

#include <algorithm>
#include <cerrno>

#include <boost/asio/post.hpp>
#include <sys/socket.h>

#include "ingest/answers.h"
#include "ingest/http_response.h"
#include "ingest/request_workers.h"

namespace hookgate {
namespace {

namespace asio = boost::asio;
using Status = TransferResult::Status;

constexpr int kReadsPerTurn = 4;  // before other connections get theirs
// Dropped behind a refused request before the connection closes, so that a sender that is still
// writing gets to see the answer instead of a reset.
constexpr std::size_t kLingerBytesMax = 64UL * 1024;
constexpr std::chrono::seconds kLingerTime{2};

RequestLimits request_limits(const ReactorConnections& all) {
  RequestLimits limits;
  limits.head_bytes_max = all.settings.head_bytes_max;
  limits.target_bytes_max = all.settings.target_bytes_max;
  limits.headers_max = all.settings.headers_max;
  limits.body_bytes_max = all.receiver.body_bytes_max();
  return limits;
}

TransferResult failed_transfer(Status again) {
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {again};
  return {Status::kFailed};
}

}  // namespace

ReactorConnection::ReactorConnection(asio::io_context& context, ReactorConnections& all,
                                     std::uint64_t id, Peer peer, std::unique_ptr<TlsSession> tls)
    : all_(all),
      id_(id),
      address_(peer.address),
      address_text_(peer.address ? peer.address->text() : ""),
      socket_(context, peer.socket.release()),
      tls_(std::move(tls)),
      parser_(request_limits(all)) {}

void ReactorConnection::start() {
  if (tls_) {
    state_ = State::kHandshake;
    deadline_ = ReactorClock::now() + all_.settings.head_timeout;
    shake_hands();
    return;
  }
  enter_idle();
  wait_readable();
}

// A peer that connects and says nothing is given less time than one that has sent requests.
void ReactorConnection::enter_idle() {
  state_ = State::kIdle;
  const auto time = is_first_request_ ? all_.settings.request_timeout : all_.settings.idle_timeout;
  deadline_ = ReactorClock::now() + time;
  idle_position_ = all_.idle.insert(all_.idle.end(), this);
}

void ReactorConnection::leave_idle() {
  if (state_ == State::kIdle) all_.idle.erase(idle_position_);
}

void ReactorConnection::wait_readable() {
  if (waits_readable_ || !is_open()) return;
  waits_readable_ = true;
  socket_.async_wait(asio::posix::descriptor_base::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->waits_readable_ = false;
                       if (!error && self->is_open()) self->on_readable();
                     });
}

void ReactorConnection::wait_writable() {
  if (waits_writable_ || !is_open()) return;
  waits_writable_ = true;
  socket_.async_wait(asio::posix::descriptor_base::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->waits_writable_ = false;
                       if (!error && self->is_open()) self->on_writable();
                     });
}

void ReactorConnection::on_writable() {
  if (state_ == State::kHandshake) {
    shake_hands();
  } else if (state_ == State::kWriting) {
    write();
    go_on();
  } else if (wants_retry_) {
    on_readable();
  }
}

void ReactorConnection::shake_hands() {
  switch (tls_->handshake().status) {
    case Status::kDone:
      enter_idle();
      on_readable();
      break;
    case Status::kWantRead: wait_readable(); break;
    case Status::kWantWrite: wait_writable(); break;
    default: close();
  }
}

TransferResult ReactorConnection::receive() {
  auto& buffer = all_.buffer;
  if (tls_) return tls_->receive(buffer.data(), buffer.size());
  const auto count = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
  if (count > 0) return {Status::kDone, static_cast<std::size_t>(count)};
  return count == 0 ? TransferResult{Status::kEnd} : failed_transfer(Status::kWantRead);
}

TransferResult ReactorConnection::send(std::string_view bytes) {
  if (tls_) return tls_->send(bytes);
  const auto count = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return {Status::kDone, static_cast<std::size_t>(count)};
  return failed_transfer(Status::kWantWrite);
}

void ReactorConnection::on_readable() {
  if (state_ == State::kHandshake) return shake_hands();
  if (state_ == State::kWriting && tls_) {  // a write that wanted to read
    write();
    return go_on();
  }
  for (int i = 0; i < kReadsPerTurn; ++i) {
    if (!wants_request() && state_ != State::kLingering) return;
    if (!read_once()) return;
  }
  // TLS may hold bytes that the socket will not announce again.
  if (tls_ && (wants_request() || state_ == State::kLingering)) {
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      if (self->is_open()) self->on_readable();
    });
  } else if (wants_request() || state_ == State::kLingering) {
    wait_readable();
  }
}

// False when there is no more to read for now, or ever.
bool ReactorConnection::read_once() {
  wants_retry_ = false;
  const auto received = receive();
  switch (received.status) {
    case Status::kDone: break;
    case Status::kWantRead: wait_readable(); return false;
    case Status::kWantWrite:
      wants_retry_ = true;
      wait_writable();
      return false;
    case Status::kEnd: on_end(); return false;
    case Status::kFailed: close(); return false;
  }
  if (state_ == State::kLingering) {
    if (received.bytes >= linger_bytes_) {
      close();
      return false;
    }
    linger_bytes_ -= received.bytes;
    return true;
  }
  take_input({all_.buffer.data(), received.bytes});
  const bool is_drained = !tls_ && received.bytes < all_.buffer.size();
  if (!is_drained) return true;
  if (wants_request() || state_ == State::kLingering) wait_readable();
  return false;
}

// A peer that has sent all it wants to send may still wait for an answer.
void ReactorConnection::on_end() {
  if (state_ == State::kReading) return refuse(400, "request incomplete");
  close();
}

// After an answer: what came meanwhile, then what comes next.
void ReactorConnection::go_on() {
  if (wants_request() && !pending_.empty()) {
    const auto bytes = std::exchange(pending_, {});
    take_input(bytes);
  }
  if (!wants_request()) return;
  if (all_.is_draining && state_ == State::kIdle) return close();
  tls_ ? on_readable() : wait_readable();
}

void ReactorConnection::take_input(std::string_view bytes) {
  while (!bytes.empty() && wants_request()) bytes.remove_prefix(take_step(bytes));
  const bool may_follow = state_ == State::kAnswering || state_ == State::kWriting;
  if (may_follow && !closes_after_output_) pending_.append(bytes);
}

std::size_t ReactorConnection::take_step(std::string_view bytes) {
  if (state_ == State::kIdle) begin_request();
  const auto taken = parser_.feed(bytes);
  if (parser_.status() == RequestParser::Status::kJudge) judge_head(taken < bytes.size());
  if (state_ != State::kReading) return taken;
  count_body();
  if (state_ != State::kReading) return taken;
  if (parser_.status() == RequestParser::Status::kWhole) {
    submit_request();
  } else if (parser_.status() == RequestParser::Status::kRefused) {
    refuse(parser_.refusal().status, parser_.refusal().title);
  }
  return taken;
}

void ReactorConnection::begin_request() {
  leave_idle();
  state_ = State::kReading;
  is_first_request_ = false;
  is_head_ = false;
  request_began_ = ReactorClock::now();
  deadline_ = request_began_ + std::min(all_.settings.head_timeout, all_.settings.request_timeout);
}

void ReactorConnection::judge_head(bool body_has_begun) {
  parser_.set_remote_address(address_text_);
  keeps_alive_ = parser_.keeps_alive();
  is_http_1_0_ = parser_.is_http_1_0();
  is_head_ = parser_.request().method == "HEAD";
  if (const auto refused =
          all_.receiver.refuse_early(parser_.request(), parser_.content_length())) {
    const bool is_whole = !parser_.has_body();
    if (is_whole) {
      parser_.accept_head();
      parser_.take();
    }
    respond(*refused, !is_whole);
    return;
  }
  parser_.accept_head();
  if (parser_.status() != RequestParser::Status::kBody) return;
  deadline_ = request_began_ + all_.settings.request_timeout;
  if (!parser_.expects_continue() || body_has_begun) return;
  // A fresh answer's first bytes always fit; a peer for which they do not reads nothing at all.
  const auto sent = send(kContinueResponse);
  if (sent.status != Status::kDone || sent.bytes < kContinueResponse.size()) close();
}

void ReactorConnection::count_body() {
  const auto bytes = parser_.request().body.size();
  all_.buffered_bytes += bytes - counted_bytes_;
  counted_bytes_ = bytes;
  // Large bodies are refused first, so that a flood of them leaves room for the usual ones.
  const auto most = all_.settings.buffered_bytes_max;
  const bool is_large = bytes >= RequestWorkers::kLargeBytes;
  if (all_.buffered_bytes <= (is_large ? most - most / 4 : most)) return;
  count_refusal(503);
  refuse(all_.receiver.overloaded());
}

void ReactorConnection::submit_request() {
  state_ = State::kAnswering;
  deadline_ = ReactorClock::now() + all_.settings.answer_timeout;
  ++sequence_;
  observe(Stage::kRead, request_began_);
  // From here on the workers' queue and the commit queue count them.
  all_.buffered_bytes -= std::exchange(counted_bytes_, 0);
  if (all_.submit(*this, sequence_, parser_.take())) return;
  count_refusal(503);
  respond(all_.receiver.overloaded(), false);
}

void ReactorConnection::deliver(std::uint64_t sequence, const Answer& answer,
                                ReactorClock::time_point at_hand) {
  if (state_ != State::kAnswering || sequence != sequence_) return;
  answer_at_hand_ = at_hand;
  respond(answer, false);
  go_on();
}

void ReactorConnection::refuse(int status, std::string_view title) {
  count_refusal(status);
  refuse(problem_answer(status, title));
}

void ReactorConnection::refuse(const Answer& answer) {
  respond(answer, true);
}

void ReactorConnection::respond(const Answer& answer, bool closes) {
  leave_idle();
  state_ = State::kWriting;
  deadline_ = ReactorClock::now() + all_.settings.write_timeout;
  closes_after_output_ = closes || !keeps_alive_ || all_.is_draining;
  if (closes) pending_.clear();
  ResponseForm form;
  form.is_http_1_0 = is_http_1_0_;
  form.keeps_alive = !closes_after_output_;
  form.without_body = is_head_;
  form.date = all_.date;
  output_ = serialize_response(answer, form);
  output_sent_ = 0;
  write();
}

void ReactorConnection::write() {
  while (output_sent_ < output_.size()) {
    const auto sent = send(std::string_view{output_}.substr(output_sent_));
    switch (sent.status) {
      case Status::kDone: output_sent_ += sent.bytes; break;
      case Status::kWantWrite: return wait_writable();
      case Status::kWantRead: return wait_readable();
      default: return close();
    }
  }
  after_write();
}

void ReactorConnection::after_write() {
  output_.clear();
  if (answer_at_hand_ != ReactorClock::time_point{}) observe(Stage::kWrite, answer_at_hand_);
  answer_at_hand_ = {};
  all_.buffered_bytes -= std::exchange(counted_bytes_, 0);
  if (closes_after_output_) return linger();
  enter_idle();
}

void ReactorConnection::linger() {
  if (tls_) tls_->shutdown();
  ::shutdown(socket_.native_handle(), SHUT_WR);
  state_ = State::kLingering;
  parser_ = RequestParser{request_limits(all_)};  // gives back what it holds
  pending_ = {};
  linger_bytes_ = kLingerBytesMax;
  deadline_ = ReactorClock::now() + kLingerTime;
  wait_readable();
}

void ReactorConnection::check_deadline(ReactorClock::time_point now) {
  if (now < deadline_ || !is_open()) return;
  switch (state_) {
    case State::kReading: refuse(408, "request took too long"); break;
    case State::kAnswering:
      count_refusal(503);
      respond(all_.receiver.overloaded(), false);
      go_on();
      break;
    default: close();
  }
}

void ReactorConnection::drain() {
  if (state_ == State::kHandshake) return close();
  if (state_ != State::kIdle) return;
  // A request that was sent before it could know is not to be met by a reset.
  on_readable();
  if (state_ == State::kIdle) close();
}

void ReactorConnection::close() {
  if (!is_open()) return;
  leave_idle();
  all_.buffered_bytes -= std::exchange(counted_bytes_, 0);
  state_ = State::kClosed;
  boost::system::error_code ignored;
  socket_.close(ignored);
  all_.remove(*this);
}

void ReactorConnection::observe(Stage stage, ReactorClock::time_point since) const {
  if (all_.settings.metrics != nullptr)
    all_.settings.metrics->stage(stage, ReactorClock::now() - since);
}

void ReactorConnection::count_refusal(int status) const {
  if (all_.settings.metrics != nullptr)
    all_.settings.metrics->request("", status, ReactorClock::now() - request_began_);
}

}  // namespace hookgate
