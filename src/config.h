#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ip_network.h"
#include "domain/provider.h"
#include "domain/secret.h"
#include "handlers/registry.h"

namespace hookgate {

// The configuration is wrong; `what()` is the one line for the user:
// `hookgate.toml:12:3: unknown key 'secret' in [[source]]; did you mean 'secrets'?`
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ServerConfig {
  std::string listen = "0.0.0.0:8080";  // host:port, "[::1]:0", "unix:/path"; port 0 picks one
  std::string listener = "reactor";     // or "httplib"
  std::size_t max_body_bytes = 1024 * 1024;
  std::size_t max_connections = 10'000;
  std::size_t max_connections_per_address = 0;        // 0: half of max_connections
  std::chrono::milliseconds request_timeout{10'000};  // whole request, first byte to last
  std::chrono::milliseconds shutdown_grace{20'000};
  std::vector<IpNetwork> trusted_proxies;  // whose X-Forwarded-For is believed
  bool trust_unix_socket = false;          // "unix:" among the trusted proxies
  // PEM files that fit together; both or none. Paths from the working folder.
  std::string tls_certificate;
  std::string tls_key;
};

struct AdminConfig {
  std::string listen = "127.0.0.1:8081";
  bool listen_is_given = false;  // by the file; the default address may be taken by another gateway
  std::optional<Secret> token;   // always set unless `listen` is on loopback
};

struct DatabaseConfig {
  Secret url{"postgresql:///hookgate"};  // may hold a password
  bool migrate = true;
};

struct WorkersConfig {
  int count = 4;                                      // 0: this process only receives
  int max_attempts = 15;                              // handler failures before an event is dead
  std::chrono::milliseconds handler_timeout{30'000};  // one run of one handler
};

struct RetentionConfig {
  std::chrono::hours bodies{24 * 30};
};

struct BasicAuthConfig {
  Secret user;
  Secret password;
};

struct SourceConfig {
  std::string name;      // [a-z0-9_-]{1,64}; served at POST /webhooks/{name}
  std::string provider;  // one of provider_names()
  ProviderSettings settings;
  std::chrono::hours retain{};        // of the dedup key; default: the provider's horizon
  std::optional<bool> live;           // set: events of the other kind are stored as ignored
  std::vector<std::string> accounts;  // empty: any
  std::optional<BasicAuthConfig> basic_auth;
  std::vector<IpNetwork> allow;       // empty: all
  double rate_limit = 0;              // authentic events a second; 0: none
  std::vector<std::string> handlers;  // names of [[handler]] blocks, in order
  std::string respond;                // the one that answers in the request; "": none
};

// Everything is checked when this exists: names resolve, secrets decode, limits are positive.
struct Config {
  std::filesystem::path file;
  ServerConfig server;
  AdminConfig admin;
  DatabaseConfig database;
  WorkersConfig workers;
  RetentionConfig retention;
  std::vector<SourceConfig> sources;
  std::vector<HandlerSettings> handlers;
  // Not errors, but worth a line to the operator, with file:line:column in front.
  std::vector<std::string> warnings;
};

// Reads and checks `file`. Strings of the form "env:NAME" and "file:PATH" (relative to the
// configuration file; trailing newlines trimmed) are replaced. Throws ConfigError at the first
// fault.
Config load_config(const std::filesystem::path& file);

// The same for a text; `name` stands in messages for the file.
Config parse_config(std::string_view text, const std::filesystem::path& name);

}  // namespace hookgate
