#include "proxy_process.h"

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dev/child_process.h"
#include "raw_socket.h"

namespace hookgate {
namespace {

constexpr int kStartsMax = 5;  // a picked port may be taken by somebody else meanwhile

std::string program_of(const std::string& name) {
  return "/usr/sbin/" + name;
}

// Neither proxy can say which port it got, so a free one is picked for it.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: what the system call takes
  const bool is_bound =
      ::bind(socket, generic, length) == 0 && ::getsockname(socket, generic, &length) == 0;
  ::close(socket);
  if (!is_bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

// Without a master process: the one process we start is the one that serves.
std::string nginx_config(const std::string& folder, const std::string& listen,
                         const std::string& gateway) {
  std::ostringstream text;
  text << "daemon off;\nmaster_process off;\npid " << folder << "/pid;\nerror_log " << folder
       << "/error.log;\nevents { worker_connections 512; }\nhttp {\n  access_log off;\n";
  for (const auto* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
    text << "  " << kind << "_temp_path " << folder << "/" << kind << ";\n";
  text << "  upstream gateway { server " << gateway << "; keepalive 16; }\n  server {\n    listen "
       << listen << ";\n    client_body_timeout 5s;\n    location / {\n"
       << "      proxy_pass http://gateway;\n      proxy_http_version 1.1;\n"
       << "      proxy_request_buffering on;\n      proxy_set_header Connection \"\";\n"
       << "      proxy_set_header Host $host;\n"
       << "      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n"
       << "      proxy_next_upstream off;\n    }\n  }\n}\n";
  return text.str();
}

std::string haproxy_config(const std::string& listen, const std::string& gateway) {
  std::ostringstream text;
  text << "global\n  maxconn 512\n  nbthread 1\ndefaults\n  mode http\n  timeout connect 5s\n"
       << "  timeout client 10s\n  timeout server 10s\n  timeout http-request 5s\n"
       << "  option http-buffer-request\n  option forwardfor\n  http-reuse always\n"
       << "frontend public\n  bind " << listen << "\n  default_backend gateway\n"
       << "backend gateway\n  server one " << gateway << "\n";
  return text.str();
}

std::string file_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

}  // namespace

bool ProxyProcess::is_installed(const std::string& name) {
  return ::access(program_of(name).c_str(), X_OK) == 0;
}

ProxyProcess::ProxyProcess(const std::string& name, const std::string& gateway_address) {
  std::string pattern = std::filesystem::temp_directory_path() / "hookgate-proxy.XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for the proxy");
  folder_ = pattern;
  for (int i = 0; i < kStartsMax; ++i) {
    if (start(name, gateway_address)) return;
  }
  const auto output = file_text(folder_ / "output") + file_text(folder_ / "error.log");
  end();
  throw std::runtime_error(name + " did not start: " + output);
}

ProxyProcess::~ProxyProcess() {
  end();
}

bool ProxyProcess::start(const std::string& name, const std::string& gateway_address) {
  address_ = "127.0.0.1:" + std::to_string(free_port());
  const auto config = (folder_ / "config").string();
  std::ofstream{config} << (name == kNginx
                                ? nginx_config(folder_.string(), address_, gateway_address)
                                : haproxy_config(address_, gateway_address));
  ChildCommand command;
  command.identity = current_identity();
  if (name == kNginx) {
    command.arguments = {program_of(name), "-p", folder_.string(), "-c", config};
  } else {
    command.arguments = {program_of(name), "-db", "-f", config};
  }
  const auto output = (folder_ / "output").string();
  command.output_fd = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  command.signal_at_our_end = SIGKILL;
  process_ = spawn(command);
  ::close(command.output_fd);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (std::chrono::steady_clock::now() < deadline) {
    if (!refuses_connections(address_)) return true;
    // Another process' start can only be polled.
    if (wait_for_child(process_, std::chrono::milliseconds{20})) break;
  }
  process_ = 0;
  return false;
}

void ProxyProcess::end() {
  if (process_ != 0) {
    ::kill(process_, SIGKILL);
    wait_for_child(process_, std::chrono::seconds{5});
  }
  process_ = 0;
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace hookgate
