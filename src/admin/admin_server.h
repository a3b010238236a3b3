#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "domain/secret.h"

namespace hookgate {

struct AdminSettings {
  std::string host;
  int port = 0;                 // 0 picks one
  std::optional<Secret> token;  // asked for as a bearer token; none only on loopback
};

// The listener for operators: /healthz and /readyz for now. Everything else asks for the token
// first.
class AdminServer {
 public:
  AdminServer(AdminSettings settings, std::function<bool()> is_ready);
  ~AdminServer();

  void start();          // throws std::runtime_error when the address cannot be bound
  void stop() noexcept;  // idempotent
  std::string address() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hookgate
