#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "crypto/tls.h"
#include "domain/ip_network.h"
#include "ingest/listener.h"
#include "ingest/listening_socket.h"
#include "ingest/request_parser.h"

namespace hookgate {

class ReactorConnection;
using ReactorClock = std::chrono::steady_clock;

// What the connections of a reactor share. All of it belongs to the reactor's thread.
class ReactorConnections {
 public:
  ReactorConnections(ListenerSettings listener_settings, Receiver& request_receiver)
      : settings(std::move(listener_settings)), receiver(request_receiver) {}
  virtual ~ReactorConnections() = default;

  // Hands a whole request to the workers; false when they have too many. The answer comes back
  // through ReactorConnection::deliver with the same sequence number.
  virtual bool submit(const ReactorConnection& from, std::uint64_t sequence,
                      InboundRequest request) = 0;
  // Forgets a connection that has closed; it may be gone afterwards.
  virtual void remove(ReactorConnection& connection) = 0;

  const ListenerSettings settings;
  Receiver& receiver;
  std::list<ReactorConnection*> idle;  // between two requests, the longest first
  std::array<char, 64UL * 1024> buffer{};
  std::size_t buffered_bytes = 0;  // of bodies that are read or wait for their answer
  std::string date;                // for the Date header
  bool is_draining = false;
};

// One connection: reads a request, hands it over, writes the answer, and so on; never more than one
// request at a time, so pipelined ones are answered in order. All methods on the reactor's thread.
class ReactorConnection : public std::enable_shared_from_this<ReactorConnection> {
 public:
  ReactorConnection(boost::asio::io_context& context, ReactorConnections& all, std::uint64_t id,
                    Peer peer, std::unique_ptr<TlsSession> tls);

  std::uint64_t id() const { return id_; }
  const std::optional<IpAddress>& address() const { return address_; }
  bool is_open() const { return state_ != State::kClosed; }

  void start();
  // Answers the request of that number, unless it was answered for being late.
  void deliver(std::uint64_t sequence, const Answer& answer, ReactorClock::time_point at_hand);
  // Acts on a deadline that has passed.
  void check_deadline(ReactorClock::time_point now);
  // Closes when nothing is under way; else after the answer.
  void drain();
  void close();

 private:
  enum class State {
    kHandshake,
    kIdle,       // no byte of a request has come
    kReading,    // a request comes in
    kAnswering,  // a whole request is with the workers
    kWriting,    // its answer goes out
    kLingering,  // all is said; what still comes is dropped for a moment, so that the peer can read
    kClosed,
  };

  bool wants_request() const { return state_ == State::kIdle || state_ == State::kReading; }
  void enter_idle();
  void leave_idle();

  void wait_readable();
  void wait_writable();
  void on_readable();
  void on_writable();
  void shake_hands();
  TransferResult receive();
  TransferResult send(std::string_view bytes);
  bool read_once();
  void on_end();

  void go_on();
  void take_input(std::string_view bytes);
  std::size_t take_step(std::string_view bytes);
  void begin_request();
  void judge_head(bool body_has_begun);
  void count_body();
  void submit_request();
  void refuse(int status, std::string_view title);
  void refuse(const Answer& answer);
  void respond(const Answer& answer, bool closes);
  void write();
  void after_write();
  void linger();
  void observe(Stage stage, ReactorClock::time_point since) const;
  void count_refusal(int status) const;

  ReactorConnections& all_;
  const std::uint64_t id_;
  const std::optional<IpAddress> address_;
  const std::string address_text_;
  boost::asio::posix::stream_descriptor socket_;
  std::unique_ptr<TlsSession> tls_;
  RequestParser parser_;

  State state_ = State::kIdle;
  ReactorClock::time_point deadline_;
  std::list<ReactorConnection*>::iterator idle_position_;  // while kIdle
  bool waits_readable_ = false;
  bool waits_writable_ = false;
  bool wants_retry_ = false;  // TLS: the call that wanted the socket writable was a read

  std::string pending_;  // came behind the request that is being answered
  std::uint64_t sequence_ = 0;
  std::size_t counted_bytes_ = 0;  // of this connection within all_.buffered_bytes
  ReactorClock::time_point request_began_;
  ReactorClock::time_point answer_at_hand_;
  bool is_first_request_ = true;
  bool keeps_alive_ = false;  // the request that is being answered
  bool is_http_1_0_ = false;
  bool is_head_ = false;

  std::string output_;
  std::size_t output_sent_ = 0;
  bool closes_after_output_ = false;
  std::size_t linger_bytes_ = 0;
};

}  // namespace hookgate
