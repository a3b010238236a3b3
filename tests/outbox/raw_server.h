#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace hookgate {

// A server of bytes on 127.0.0.1, for receivers that no library would be.
class RawServer {
 public:
  // Called for every connection, on a thread of its own; the socket is closed afterwards.
  using Serve = std::function<void(int socket)>;

  explicit RawServer(Serve serve);
  ~RawServer();  // shuts every connection down and waits for their threads
  int port() const { return port_; }
  int connections() const { return count_; }

 private:
  void accept_all();

  const Serve serve_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> count_ = 0;
  std::atomic<bool> ends_ = false;
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// Reads until the request's head and the body its Content-Length announces are there, or the end.
std::string read_request(int socket);
// False when the peer is gone.
bool write_all(int socket, const std::string& bytes);

}  // namespace hookgate
