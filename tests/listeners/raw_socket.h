#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/http_message.h"

namespace hookgate {

// One response as it came over the wire.
struct RawAnswer {
  int status = 0;
  std::vector<Header> headers;
  std::string body;

  std::string header(std::string_view name) const;  // "" when absent
  bool is_interim() const { return status < 200; }
};

std::vector<int> statuses_of(const std::vector<RawAnswer>& answers);

struct RawSocketOptions {
  int send_buffer_bytes = 0;     // 0: the kernel's choice
  int receive_buffer_bytes = 0;  // 0: the kernel's choice
  std::string local_address{};   // "127.0.0.9"; empty: the kernel's choice
};

// A TCP client that sends bytes as they are and hides nothing of what comes back. Every wait has a
// limit. Not thread-safe.
class RawSocket {
 public:
  using Milliseconds = std::chrono::milliseconds;
  enum class State {
    kOpen,
    kClosed,  // the peer sent its end (FIN)
    kReset,   // the peer sent a reset
  };
  static constexpr Milliseconds kLimit{5'000};

  // `address` as a listener tells it, "127.0.0.1:8080". Throws std::runtime_error when nobody
  // listens.
  explicit RawSocket(const std::string& address, const RawSocketOptions& options = {});
  ~RawSocket();
  RawSocket(RawSocket&& other) noexcept;
  RawSocket& operator=(RawSocket&& other) noexcept;
  RawSocket(const RawSocket&) = delete;

  // How many bytes the kernel took before the peer went away or the time was over.
  std::size_t send(std::string_view bytes, Milliseconds limit = kLimit);
  // A send for each byte. Ends early when the peer goes away.
  std::size_t send_bytewise(std::string_view bytes);
  void end_sending();  // half-close
  void reset();        // closes with a reset instead of an end

  // The next answer, interim or final; nothing when the peer closes or the time is over. A body
  // without a length ends with the connection. `to_head`: the answer has no body.
  std::optional<RawAnswer> read_answer(Milliseconds limit = kLimit, bool to_head = false);
  // The next `count` final answers with their interim ones; fewer when the peer closes or the time
  // is over.
  std::vector<RawAnswer> read_answers(std::size_t count, Milliseconds limit = kLimit,
                                      bool to_head = false);
  // Reads until the peer closes; kOpen when it has not within the limit. Answers that come
  // meanwhile are kept for read_answers.
  State wait_for_close(Milliseconds limit = kLimit);
  State state() const { return state_; }
  // The next at most `bytes_max` raw bytes, for a client that reads slowly.
  std::string read_some(std::size_t bytes_max, Milliseconds limit = kLimit);

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  bool wait_until_ready(short events, Deadline deadline) const;
  bool receive(Deadline deadline, std::size_t bytes_max = 64UL * 1024);
  bool take_answer(RawAnswer& answer, bool to_head);

  int socket_ = -1;
  State state_ = State::kOpen;
  std::string input_;  // received, not yet taken as an answer
};

// Whether nobody listens there (any more).
bool refuses_connections(const std::string& address);

}  // namespace hookgate
