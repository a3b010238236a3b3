#include <cstdio>
#include <fstream>

#include "app.h"
#include "cli/commands.h"
#include "cli/dev_config.h"
#include "cli/fixture_trial.h"
#include "cli/run_until_signal.h"
#include "config.h"
#include "config_file.h"
#include "config_values.h"
#include "dev/private_postgres.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

constexpr auto kDatabase = "hookgate";
constexpr auto kTrialDatabase = "hookgate_once";

void print_hints(const App& app, const std::filesystem::path& file) {
  const auto address = app.public_address();
  std::printf("\nlistening on %s\nadmin on %s\n\n", address.c_str(), app.admin_address().c_str());
  const auto unix_socket = unix_socket_path(address);
  for (const auto* source : {"stripe", "adyen", "standard", "orders"}) {
    if (unix_socket) {
      std::printf("  curl --unix-socket %s http://localhost/webhooks/%s\n",
                  std::string{*unix_socket}.c_str(), source);
    } else {
      std::printf("  POST http://%s/webhooks/%s\n", address.c_str(), source);
    }
  }
  std::printf("\nconfiguration: %s (edit it, then send SIGHUP for secrets or start again)\n",
              file.c_str());
  if (!unix_socket) {
    std::printf(
        "try, from another shell:\n"
        "  build/release/hookgate replay fixtures --to http://%s\n"
        "  build/release/hookgate payments list\n"
        "  curl -i http://%s/webhooks/orders -H 'Authorization: Bearer %s' \\\n"
        "    -H 'Idempotency-Key: K1' -d '{\"product\":\"book\",\"quantity\":2}'\n\n",
        address.c_str(), address.c_str(), kDevWebKey);
  }
  std::fflush(stdout);
}

// The option stands in for the file's key, which the configuration would have checked.
void check_address(const char* option, const std::string& address, bool may_be_unix_socket) {
  if (address.empty() || parse_listen_address(address)) return;
  const auto path = unix_socket_path(address);
  const bool is_socket = path && path->starts_with('/') && path->size() <= kUnixSocketPathBytesMax;
  if (is_socket && may_be_unix_socket) return;
  throw UsageError(std::string{option} + " must be host:port such as \"127.0.0.1:8080\", found " +
                   in_quotes(address));
}

}  // namespace

int dev_command(const DevOptions& options) {
  // The replay of --once goes over TCP.
  check_address("--listen", options.listen, !options.once);
  check_address("--admin-listen", options.admin_listen, false);
  set_up_log(options.once);
  block_signals();
  const std::filesystem::path data_dir{options.data_dir};
  PrivatePostgresOptions postgres_options;
  postgres_options.data_dir = data_dir;
  PrivatePostgres postgres{postgres_options};
  std::fprintf(stderr, "starting a private PostgreSQL under %s\n", options.data_dir.c_str());
  postgres.start();
  if (!postgres.notice().empty()) std::fprintf(stderr, "%s\n", postgres.notice().c_str());

  const auto database = options.once ? kTrialDatabase : kDatabase;
  const auto url = prepare_dev_database(postgres.url(), database, options.once);
  const auto file = data_dir / "hookgate.toml";
  if (!std::filesystem::exists(file))
    write_dev_config(file, with_dev_database(postgres.url(), kDatabase));
  auto config = load_config(file);
  // The cluster is ours, wherever the file was copied from.
  config.database.url = Secret{url};
  if (!options.listen.empty()) config.server.listen = options.listen;
  if (!options.admin_listen.empty()) config.admin.listen = options.admin_listen;
  if (options.once) {
    if (options.listen.empty()) config.server.listen = "127.0.0.1:0";
    if (options.admin_listen.empty()) config.admin.listen = "127.0.0.1:0";
  }
  const auto grace = config.server.shutdown_grace;

  App app{config};
  app.start();
  int code = kExitDone;
  if (options.once) {
    code = run_fixture_trial(app, config, options);
    app.stop();
  } else {
    print_hints(app, file);
    code = run_until_signal(app, file, grace);
  }
  postgres.stop();
  return code;
}

}  // namespace hookgate
