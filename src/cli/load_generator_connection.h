#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <netdb.h>
#include <sys/socket.h>

#include "cli/load_generator.h"

namespace hookgate {

// What an answer says, as far as a load test wants to know.
struct LoadAnswer {
  int status = 0;
  bool replayed = false;  // Idempotent-Replayed: true
  bool closes = false;    // the server ends the connection after it
  std::string_view body;  // in the text that was read
  std::size_t bytes = 0;  // of the whole answer
};
struct IncompleteAnswer {};
struct MalformedAnswer {};

// The answer at the start of `text`: with a Content-Length, or a status that has no body.
std::variant<LoadAnswer, IncompleteAnswer, MalformedAnswer> read_answer(std::string_view text);

// Where to connect, looked up once.
struct LoadAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

// Throws LoadTargetUnreachable when the name is not known, LoadError for a path that is too long.
LoadAddress resolve(const LoadTarget& target);

// One keep-alive connection, non-blocking. One thread.
class LoadConnection {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State { kDown, kConnecting, kIdle, kBusy };
  enum class Io { kDone, kAgain, kFailed };
  enum class Kind { kFresh, kRedelivery, kForged };

  LoadConnection() = default;
  ~LoadConnection() { close(); }
  LoadConnection(const LoadConnection&) = delete;
  LoadConnection& operator=(const LoadConnection&) = delete;

  // Begins to connect: done, under way (writable when it is through), or failed.
  Io connect(const LoadAddress& address);
  // After it became writable: through, or failed.
  Io finish_connect();
  void close();

  // Sends what is left of `out`.
  Io flush();
  // Reads what is there; kDone: some bytes came, kFailed: the end or an error.
  Io read();

  int fd = -1;
  State state = State::kDown;
  bool waits_for_room = false;  // registered for writability
  bool is_listed = false;       // among the idle ones
  Time since{};                 // when it went into this state
  // Of the request under way.
  std::string out;
  std::size_t out_sent = 0;
  std::string in;
  Kind kind = Kind::kFresh;
  std::uint64_t number = 0;
  Time due{};
};

}  // namespace hookgate
