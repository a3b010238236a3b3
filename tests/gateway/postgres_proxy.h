#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "domain/secret.h"

namespace hookgate {

// Stands between a gateway and its PostgreSQL on 127.0.0.1 and passes bytes on, until a test wants
// the way to break. Any thread.
class PostgresProxy {
 public:
  // `server`: a database of a server with a Unix socket.
  explicit PostgresProxy(const Secret& server);
  ~PostgresProxy();
  PostgresProxy(const PostgresProxy&) = delete;
  PostgresProxy& operator=(const PostgresProxy&) = delete;

  // The same database through the proxy.
  const Secret& url() const { return url_; }

  // The next message of a client that holds `text` reaches the server, and the server's answer,
  // once there, reaches nobody: both sides of that session are closed.
  void cut_after(std::string text);
  int cuts() const { return cuts_; }

  // Sessions whose clients have sent `text` hang from now on: open, and silent both ways.
  void freeze(std::string text);
  int frozen() const { return frozen_; }

 private:
  struct Session;
  void accept_sessions();
  void serve(Session& session);
  bool is_to_be_cut(const std::string& bytes);
  bool is_to_be_frozen(const std::string& bytes);

  std::string server_path_;
  Secret url_;
  int listener_ = -1;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> cuts_ = 0;
  std::atomic<int> frozen_ = 0;
  std::mutex mutex_;
  std::string cut_after_;
  std::string freeze_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::thread acceptor_;
};

}  // namespace hookgate
