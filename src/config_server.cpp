#include "config_server.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "config_networks.h"
#include "config_schema.h"
#include "config_values.h"
#include "crypto/tls.h"

namespace hookgate {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr IntegerRange kBodyBytes{.least = 1, .most = std::int64_t{64} << 20};
constexpr IntegerRange kConnections{.least = 1, .most = 1'000'000};
constexpr IntegerRange kConnectionsPerAddress{.least = 0, .most = 1'000'000};
constexpr DurationRange kRequestTime{.least = milliseconds{1}, .most = hours{1}};
constexpr DurationRange kGrace{.least = milliseconds{1}, .most = hours{1}};

constexpr std::string_view kReactor = "reactor";
constexpr std::array<std::string_view, 2> kListeners{kReactor, "httplib"};
// The word among the trusted proxies for peers on a Unix socket.
constexpr std::string_view kUnixPeers = "unix:";

// Reads the section in steps; each takes what the earlier ones have filled in.
class ServerReader {
 public:
  ServerReader(const ConfigFile& file, const ConfigBlock& block, std::vector<std::string>& warnings)
      : file_(file), block_(block), warnings_(warnings) {}

  ServerConfig read();

 private:
  void read_listener();
  void read_listen();
  void read_limits();
  void read_trusted_proxies();
  void read_tls();
  void require_reactor(std::string_view key, ConfigPosition at, std::string_view what) const;

  const ConfigFile& file_;
  const ConfigBlock& block_;
  std::vector<std::string>& warnings_;
  ServerConfig server_;
};

ServerConfig ServerReader::read() {
  read_listener();
  read_listen();
  read_limits();
  read_trusted_proxies();
  read_tls();
  return std::move(server_);
}

void ServerReader::read_listener() {
  const auto listener = block_.text("listener");
  if (!listener) return;
  if (std::ranges::find(kListeners, listener->value) == kListeners.end()) {
    const auto meant = listener->is_reference ? "" : did_you_mean(listener->value, kListeners, '"');
    block_.fail("listener", listener->at,
                "is " + listener->shown + ", which is unknown" +
                    (meant.empty() ? R"(; write "reactor" or "httplib")" : meant));
  }
  server_.listener = listener->value;
}

void ServerReader::read_listen() {
  const auto text = block_.text("listen");
  const auto path = text ? unix_socket_path(text->value) : std::nullopt;
  if (!path) {
    server_.listen = read_listen_address(block_, server_.listen);
    return;
  }
  require_reactor("listen", text->at, "a Unix socket");
  if (!path->starts_with('/') || path->ends_with('/'))
    block_.fail(
        "listen", text->at,
        R"(must name a socket by its whole path, such as "unix:/run/hookgate.sock", found )" +
            text->shown);
  if (path->size() > kUnixSocketPathBytesMax)
    block_.fail("listen", text->at,
                "has a path of " + std::to_string(path->size()) +
                    " bytes; that of a Unix socket has at most " +
                    std::to_string(kUnixSocketPathBytesMax));
  server_.listen = text->value;
}

void ServerReader::read_limits() {
  server_.max_body_bytes = static_cast<std::size_t>(
      block_.size("max_body", static_cast<std::int64_t>(server_.max_body_bytes), kBodyBytes));
  server_.max_connections = static_cast<std::size_t>(block_.integer(
      "max_connections", static_cast<std::int64_t>(server_.max_connections), kConnections));
  server_.max_connections_per_address = static_cast<std::size_t>(
      block_.integer("max_connections_per_address", 0, kConnectionsPerAddress));
  if (server_.max_connections_per_address > 0)
    require_reactor("max_connections_per_address", block_.find("max_connections_per_address")->at,
                    "a limit for each address");
  server_.request_timeout =
      block_.duration("request_timeout", kRequestTime).value_or(server_.request_timeout);
  server_.shutdown_grace =
      block_.duration("shutdown_grace", kGrace).value_or(server_.shutdown_grace);
}

void ServerReader::read_trusted_proxies() {
  constexpr std::string_view kKey = "trusted_proxies";
  const auto texts = block_.texts(kKey, kNetworksMax);
  if (!texts) return;
  for (const auto& text : *texts) {
    if (text.value == kUnixPeers) {
      server_.trust_unix_socket = true;
      continue;
    }
    if (text.value.starts_with(kUnixPeers))
      block_.fail(kKey, text.at,
                  "trusts Unix sockets as a whole, found " + text.shown + R"(; write "unix:")");
    const auto network = read_network(block_, kKey, text);
    if (network.text().ends_with("/0"))
      warnings_.push_back(file_.where(text.at) + "'trusted_proxies' in [server] holds " +
                          in_quotes(network.text()) +
                          "; whoever reaches the gateway can forge the address of a client");
    server_.trusted_proxies.push_back(network);
  }
}

void ServerReader::read_tls() {
  const auto certificate = block_.readable_path("tls_certificate");
  const auto key = block_.readable_path("tls_key");
  if (!certificate && !key) return;
  if (!key)
    block_.fail("tls_certificate", certificate->at, "needs 'tls_key', the file of its private key");
  if (!certificate)
    block_.fail("tls_key", key->at, "needs 'tls_certificate', the file of the certificate chain");
  require_reactor("tls_certificate", certificate->at, "TLS");
  try {
    const TlsContext usable{certificate->value, key->value};
  } catch (const TlsError& error) {
    block_.fail("tls_certificate", certificate->at,
                "cannot be used with 'tls_key': " + std::string{error.what()});
  }
  server_.tls_certificate = certificate->value;
  server_.tls_key = key->value;
}

// The other listener would leave it undone, and nothing that is asked for is ignored.
void ServerReader::require_reactor(std::string_view key, ConfigPosition at,
                                   std::string_view what) const {
  if (server_.listener == kReactor) return;
  block_.fail(key, at,
              "asks for " + std::string{what} + ", which the listener " +
                  in_quotes(server_.listener) + R"( has not; write listener = "reactor")");
}

}  // namespace

ServerConfig read_server(const ConfigFile& file, const ConfigBlock& block,
                         std::vector<std::string>& warnings) {
  return ServerReader{file, block, warnings}.read();
}

std::string read_listen_address(const ConfigBlock& block, const std::string& otherwise) {
  const auto text = block.text("listen");
  if (!text) return otherwise;
  if (parse_listen_address(text->value)) return text->value;
  const auto suggestion = suggest_listen_address(text->value);
  block.fail("listen", text->at,
             R"(must be host:port such as "127.0.0.1:8080", found )" + text->shown +
                 (suggestion && !text->is_reference ? "; write " + in_quotes(*suggestion) : ""));
}

}  // namespace hookgate
