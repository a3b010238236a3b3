#include <cstdio>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/fixture_file.h"
#include "cli/progress.h"
#include "cli/replay.h"
#include "cli/replay_sources.h"
#include "cli/value_reference.h"

namespace hookgate {

int replay_command(const ReplayCommandOptions& options) {
  ReplayOptions replay_options;
  for (const auto& path : options.paths) replay_options.paths.emplace_back(path);
  replay_options.to = options.to;
  if (!options.keep_signature) replay_options.sources = replay_sources(options.config);
  if (!options.provider.empty()) replay_options.provider = options.provider;
  if (!options.secret.empty()) replay_options.secret = resolve_secret(options.secret);
  replay_options.times = options.times;
  replay_options.shuffle = options.shuffle;
  replay_options.concurrency = options.concurrency;
  replay_options.rate = options.rate;
  replay_options.keep_signature = options.keep_signature;

  std::unique_ptr<Progress> progress;
  replay_options.on_progress = [&progress](std::uint64_t done, std::uint64_t planned) {
    if (done == 0 && !progress) {
      progress = std::make_unique<Progress>(std::cerr, stderr_is_terminal(), "replay", planned);
    }
    progress->update(done);
  };
  try {
    const auto report = replay(replay_options);
    if (progress) progress->finish();
    print_replay(report, options.json, std::cout);
    return replay_exit_code(report);
  } catch (const FixtureError& error) {
    throw UsageError(error.what());
  } catch (const ReplayError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace hookgate
