#include <cstdio>
#include <fstream>

#include "app.h"
#include "cli/commands.h"
#include "cli/dev_config.h"
#include "cli/fixture_trial.h"
#include "cli/run_until_signal.h"
#include "config.h"
#include "dev/private_postgres.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

constexpr auto kDatabase = "hookgate";
constexpr auto kTrialDatabase = "hookgate_once";

void print_hints(const App& app, const std::filesystem::path& file) {
  const auto address = app.public_address();
  std::printf("\nlistening on %s\nadmin on %s\n\n", address.c_str(), app.admin_address().c_str());
  for (const auto* source : {"stripe", "adyen", "standard"}) {
    std::printf("  POST http://%s/webhooks/%s\n", address.c_str(), source);
  }
  std::printf(
      "\nconfiguration: %s (edit it, then send SIGHUP for secrets or start again)\n"
      "try, from another shell:\n"
      "  build/release/hookgate replay fixtures --to http://%s\n"
      "  build/release/hookgate payments list\n\n",
      file.c_str(), address.c_str());
  std::fflush(stdout);
}

}  // namespace

int dev_command(const DevOptions& options) {
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
