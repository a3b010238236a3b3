#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/latency_histogram.h"
#include "domain/provider.h"
#include "domain/time.h"

namespace hookgate {

inline constexpr int kLoadConnectionsMax = 10'000;
inline constexpr std::size_t kLoadErrorsMax = 10;

// The load test cannot be done as asked. One line for the user.
class LoadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Nobody listens there.
class LoadTargetUnreachable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct LoadTarget {
  std::string host;  // name or literal; unused with unix_path
  std::uint16_t port = 0;
  std::string unix_path;  // of a Unix socket; "" for TCP
  std::string path;       // as on the request line: "/webhooks/stripe"

  // 127.0.0.0/8, ::1, "localhost" or a Unix socket.
  bool is_loopback() const;
};

struct LoadOptions {
  LoadTarget target;
  const Provider* provider = nullptr;  // signs; must outlive the run
  std::vector<Header> headers;         // sent besides, such as credentials
  int connections = 64;                // kept alive, one request at a time on each
  std::chrono::milliseconds duration{10'000};
  std::uint64_t count = 0;  // ends after so many requests, if that comes first; 0: no such end
  // Requests a second, sent at their moments whether or not earlier ones were answered (open loop);
  // 0: each connection sends when its answer is there (closed loop).
  double rate = 0;
  double duplicates = 0.05;  // share of events that were accepted before and are sent again
  double forged = 0;         // share of requests with a wrong signature
  std::size_t body_bytes = 3072;
  std::chrono::milliseconds connect_timeout{3'000};
  std::chrono::milliseconds answer_timeout{10'000};  // a request without an answer then is hung
  Clock clock = system_now;                          // the time that is signed
  // How far it is, from the sending thread, about ten times a second; `share` from 0 to 1.
  std::function<void(std::uint64_t answered, double share)> on_progress;
};

struct LoadReport {
  std::uint64_t sent = 0;         // = fresh + redelivered + forged
  std::uint64_t fresh = 0;        // events nobody had
  std::uint64_t redelivered = 0;  // events that had been accepted
  std::uint64_t forged = 0;       // wrong signatures

  std::uint64_t answered = 0;   // the sum of the next six
  std::uint64_t accepted = 0;   // 2xx, new to the gateway
  std::uint64_t duplicate = 0;  // 2xx, known to it
  std::uint64_t conflict = 0;
  std::uint64_t rejected = 0;  // 4xx but 429
  std::uint64_t limited = 0;   // 429 and 503: the gateway asked for patience
  std::uint64_t broken = 0;    // any other status

  // Answers that were not the right one: a fresh event must be accepted, a known one must be a
  // duplicate, a wrong signature must be 401. `limited` is neither right nor wrong.
  std::uint64_t wrong = 0;
  std::uint64_t lost = 0;    // sent, and the connection ended or gave nonsense
  std::uint64_t hung = 0;    // sent, and nothing came within answer_timeout
  std::uint64_t unsent = 0;  // open loop: due, but no connection was free in time
  std::uint64_t connects_failed = 0;
  std::uint64_t reconnects = 0;  // after the server had closed a connection in good order

  std::chrono::duration<double> elapsed{};        // first request to last answer
  std::chrono::duration<double> generator_cpu{};  // of the sending thread
  // Of all answers. Closed loop: from the moment of sending; open loop: from the moment the request
  // was due, so that time spent waiting for a connection counts.
  LatencyHistogram latency;
  std::vector<std::string> errors;  // the first few of what went wrong, fit for a terminal
};

// Sends requests with freshly signed events and checks every answer. Runs in the calling thread and
// ends at the latest `duration` + `answer_timeout` + `connect_timeout` after its call; a stop
// request ends the sending early. The target stores the events for good.
// Throws LoadError, LoadTargetUnreachable (no connection at all could be made), and nothing after
// the first request.
LoadReport generate_load(const LoadOptions& options, const std::stop_token& stop = {});

}  // namespace hookgate
