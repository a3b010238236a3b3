#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "domain/http_message.h"

namespace hookgate {

// An HTTP server that somebody's webhooks are sent to: keeps what came, answers as it is told to.
class Receiver {
 public:
  // Called for every request, on the server's threads; the default answers 204.
  using Respond = std::function<Answer(const InboundRequest& request, std::size_t number)>;

  Receiver()
      : Receiver([](const InboundRequest&, std::size_t) {
          return Answer{204, "", "", {}};
        }) {}
  // With a certificate and its key, both PEM files, over TLS.
  explicit Receiver(Respond respond, const std::string& certificate = "",
                    const std::string& key = "");
  ~Receiver();

  int port() const { return port_; }
  std::string url(const std::string& target = "/hooks") const;
  std::vector<InboundRequest> requests() const;
  // Waits until so many came; false after `limit`.
  bool wait_for(std::size_t count, std::chrono::seconds limit = std::chrono::seconds{20}) const;

 private:
  struct Server;
  static std::unique_ptr<Server> make_server(const std::string& certificate,
                                             const std::string& key);
  const Respond respond_;
  mutable std::mutex mutex_;
  mutable std::condition_variable arrived_;
  std::vector<InboundRequest> requests_;  // guarded by mutex_
  std::unique_ptr<Server> server_;
  int port_ = 0;
  std::thread thread_;
};

// The value of the only header of this name; "" when there is none, "several" when more.
std::string header_of(const InboundRequest& request, const std::string& name);

// Writes a self-signed certificate for these names ("DNS:localhost,IP:127.0.0.1") and its key.
void write_certificate_for(const std::string& names, const std::string& certificate,
                           const std::string& key);

}  // namespace hookgate
