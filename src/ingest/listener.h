#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "domain/ip_network.h"
#include "ingest/receiver.h"
#include "telemetry/metrics.h"

namespace hookgate {

// Limits and deadlines of a public listener. A deadline is total: bytes that trickle in do not
// extend it.
struct ListenerSettings {
  // "127.0.0.1", "::1", or the path of a Unix socket when `port` is kUnixSocket.
  std::string host;
  int port = 0;  // 0 picks one
  static constexpr int kUnixSocket = -1;

  std::size_t connections_max = 10'000;
  // Of one peer address, so that one peer cannot have them all; 0: half of connections_max. Peers
  // in `trusted_proxies` are exempt.
  std::size_t connections_per_address_max = 0;
  std::vector<IpNetwork> trusted_proxies;
  std::size_t head_bytes_max = 16UL * 1024;  // request line and headers
  std::size_t target_bytes_max = 2048;
  std::size_t headers_max = 100;
  std::size_t buffered_bytes_max = 256UL * 1024 * 1024;  // of all unfinished bodies together
  std::size_t requests_waiting_max = 4'096;              // for a worker; more get 503
  int workers = 2;                                       // threads that verify

  std::chrono::milliseconds head_timeout{5'000};      // first byte of a request to the empty line
  std::chrono::milliseconds request_timeout{10'000};  // first byte of a request to the last
  std::chrono::milliseconds idle_timeout{60'000};     // before a request's first byte
  std::chrono::milliseconds write_timeout{10'000};    // one answer
  std::chrono::milliseconds answer_timeout{5'000};    // wait for the commit; then 503
  std::chrono::milliseconds shutdown_grace{20'000};   // stop() lasts no longer

  // PEM files; both or none. Reactor only.
  std::string tls_certificate;
  std::string tls_key;
  Metrics* metrics = nullptr;  // outlives the listener; null: nothing is observed
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
  // Reads the TLS files again; connections from then on use them. Throws ListenError, and goes on
  // with what it had, when they cannot be used.
  virtual void reload_tls() {}
  // "127.0.0.1:8080", with the port that was picked; valid after start().
  virtual std::string address() const = 0;
};

// The plain listener: cpp-httplib's accepting loop, a thread per connection. For use behind a
// buffering proxy; what it cannot be protected from is in docs/listeners.md.
std::unique_ptr<Listener> make_httplib_listener(ListenerSettings settings, Receiver& receiver);

// The default listener: one thread owns all sockets, no peer owns a thread. See docs/listeners.md.
std::unique_ptr<Listener> make_reactor_listener(ListenerSettings settings, Receiver& receiver);

}  // namespace hookgate
