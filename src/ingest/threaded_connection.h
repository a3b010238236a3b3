#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "ingest/http_response.h"
#include "ingest/listener.h"
#include "ingest/listening_socket.h"
#include "ingest/request_parser.h"

namespace hookgate {

// What connections with a thread each share. Every method from any thread.
class ThreadedConnections {
 public:
  ThreadedConnections(ListenerSettings listener_settings, Receiver& request_receiver);

  void add(int socket);
  void remove(int socket);
  // Idle connections close, the others with their answer; waits for that within the grace, then
  // cuts those that are left.
  void stop();
  bool is_stopping() const { return is_stopping_; }
  int stopping() const { return stopping_.get(); }  // readable once it stops

  // Replaces one request's share of all unfinished bodies; false when they are too large together.
  bool count_body(std::size_t before, std::size_t now);

  const ListenerSettings settings;
  Receiver& receiver;

 private:
  const FileDescriptor stopping_;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<std::size_t> buffered_bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable removed_;
  std::set<int> sockets_;  // guarded by mutex_
};

// One connection on the thread that calls `serve`: reads a request, has it answered, and so on.
class ThreadedConnection {
 public:
  ThreadedConnection(FileDescriptor socket, ThreadedConnections& all);
  ~ThreadedConnection();
  ThreadedConnection(const ThreadedConnection&) = delete;
  ThreadedConnection& operator=(const ThreadedConnection&) = delete;

  // Returns when the connection is over.
  void serve();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Received { kBytes, kEnd, kLate, kFailed };

  bool wait_for_request();
  bool serve_request();
  std::optional<Answer> read_request();
  std::optional<Answer> judge_head();
  Answer refusal(Answer answer) const;
  Answer answer_to(InboundRequest request);
  bool count_body(std::size_t bytes);
  bool wait_until_ready(short events, Clock::time_point deadline, bool until_stop) const;
  Received receive(Clock::time_point deadline);
  bool respond(const Answer& answer, ResponseForm form);
  bool send(std::string_view bytes);
  void linger();

  FileDescriptor socket_;
  ThreadedConnections& all_;
  const std::string address_;
  RequestParser parser_;
  std::array<char, 16UL * 1024> buffer_{};
  std::string_view input_;   // received, not yet parsed; within buffer_
  Clock::time_point began_;  // of the request's first byte
  std::size_t counted_bytes_ = 0;
  bool is_first_request_ = true;
};

}  // namespace hookgate
