#include <csignal>
#include <cstdio>
#include <future>
#include <thread>

#include "app.h"
#include "cli/commands.h"
#include "cli/run_until_signal.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

sigset_t handled_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

void reload(App& app, const std::filesystem::path& file) {
  try {
    if (app.reload(load_config(file))) {
      log(LogLevel::kInfo, "secrets reloaded");
    } else {
      log(LogLevel::kError, "not reloaded: the sources changed, which takes a restart");
    }
  } catch (const std::exception& error) {
    log(LogLevel::kError, "not reloaded, the old secrets stay",
        {{"reason", std::string_view{error.what()}}});
  }
}

}  // namespace

// Before the first thread, so that every thread inherits the mask and only `run_until_signal` takes
// them.
void block_signals() {
  const auto signals = handled_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int run_until_signal(App& app, const std::filesystem::path& file, std::chrono::milliseconds grace) {
  const auto signals = handled_signals();
  for (;;) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal != SIGHUP) break;
    reload(app, file);
  }
  log(LogLevel::kInfo, "draining");
  std::packaged_task<void()> stop{[&app] { app.stop(); }};
  auto stopped = stop.get_future();
  std::thread stopper{std::move(stop)};
  if (stopped.wait_for(grace) == std::future_status::timeout) {
    // What was acknowledged is committed, and what still runs is rolled back and run again later.
    log(LogLevel::kError, "shutdown_grace is over, leaving what still runs to its lease");
    std::_Exit(kExitFailed);
  }
  stopper.join();
  log(LogLevel::kInfo, "stopped");
  return kExitDone;
}

int serve_command(const ServeOptions& options) {
  const auto file = config_path(options.config);
  const auto config = load_config(file);
  set_up_log(false);
  for (const auto& warning : config.warnings)
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  block_signals();
  const auto grace = config.server.shutdown_grace;
  App app{config};
  app.start();
  std::printf("listening on %s\nadmin on %s\n", app.public_address().c_str(),
              app.admin_address().c_str());
  std::fflush(stdout);
  return run_until_signal(app, file, grace);
}

}  // namespace hookgate
