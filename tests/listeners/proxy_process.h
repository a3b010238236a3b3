#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <sys/types.h>

namespace hookgate {

inline constexpr auto kNginx = "nginx";
inline constexpr auto kHaproxy = "haproxy";

// A real reverse proxy in front of a gateway, as a child process with a folder of its own, set up
// as docs/listeners.md says: it reads bodies whole before it connects, keeps its connections to the
// gateway open, and tells the client's address.
class ProxyProcess {
 public:
  static bool is_installed(const std::string& name);

  // Returns when it listens. Throws std::runtime_error when it does not start.
  ProxyProcess(const std::string& name, const std::string& gateway_address);
  ~ProxyProcess();
  ProxyProcess(const ProxyProcess&) = delete;
  ProxyProcess& operator=(const ProxyProcess&) = delete;

  const std::string& address() const { return address_; }

 private:
  bool start(const std::string& name, const std::string& gateway_address);
  void end();

  std::filesystem::path folder_;
  std::string address_;
  pid_t process_ = 0;
};

}  // namespace hookgate
