#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "ingest/commit_queue.h"
#include "ingest/listener.h"
#include "ingest/listening_socket.h"
#include "ingest/receiver.h"

namespace hookgate {

// A client's end of a connection.
class TestSocket {
 public:
  // "127.0.0.1:1", "[::1]:1", "unix:/path". A failed connect gives a closed socket.
  explicit TestSocket(const std::string& address);

  bool is_connected() const { return connected_; }
  void send(std::string_view bytes);
  void end_sending();
  // What came until `text` did, the peer closed, or the time was over.
  std::string read_until(std::string_view text, int limit_ms = 5'000);
  // All that came until the peer closed; `closed` false if it did not.
  std::string read_all(bool& closed, int limit_ms = 5'000);
  int descriptor() const { return socket_.get(); }

 private:
  bool read_some(std::chrono::steady_clock::time_point until);

  FileDescriptor socket_;
  bool connected_ = false;
  bool closed_ = false;
  std::string input_;
};

// A receiver that knows no source; its probes answer without a database.
class ProbesOnly {
 public:
  ProbesOnly();
  Receiver& receiver() { return receiver_; }

 private:
  ConnectionPool pool_;
  CommitQueue queue_;
  Responder responder_;
  Receiver receiver_;
};

inline constexpr std::string_view kProbe = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
inline constexpr std::string_view kProbeAnswerEnd = R"({"status":"ok"})";

// A self-signed certificate for "localhost" and its key, as PEM files; `name` stands in its common
// name.
void write_certificate(const std::string& certificate_file, const std::string& key_file,
                       const std::string& name);

}  // namespace hookgate
