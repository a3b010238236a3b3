#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include "ingest/receiver.h"

namespace hookgate {

struct ListenerSettings {
  std::string host;
  int port = 0;  // 0 picks one
  std::size_t connections_max = 10'000;
  std::size_t headers_max = 100;
  std::chrono::milliseconds request_timeout{
      10'000};                                      // whole request, first byte of the body to last
  std::chrono::milliseconds idle_timeout{5'000};    // between two requests of a connection
  std::chrono::milliseconds answer_timeout{5'000};  // wait for the commit; then 503
};

class ListenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Accepts connections, reads requests and writes answers; what is in between is the receiver's.
class Listener {
 public:
  virtual ~Listener() = default;
  // Binds and serves from its own threads. Throws ListenError.
  virtual void start() = 0;
  // Stops accepting, answers what was accepted, returns when its threads are gone. Idempotent.
  virtual void stop() noexcept = 0;
  // "127.0.0.1:8080", with the port that was picked; valid after start().
  virtual std::string address() const = 0;
};

// The plain listener: cpp-httplib, a thread per connection. For use behind a buffering proxy; what
// it cannot be protected from is in docs/listeners.md.
std::unique_ptr<Listener> make_httplib_listener(ListenerSettings settings, Receiver& receiver);

}  // namespace hookgate
