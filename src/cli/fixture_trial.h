#pragma once

#include "app.h"
#include "cli/commands.h"
#include "config.h"

namespace hookgate {

// `hookgate dev --once`: sends all fixtures twice, shuffled, to the running app, waits until every
// event is settled, prints what became of them and the payments. Returns kExitDone only if nothing
// was refused or failed, nothing waits, and each accepted event is one row that was settled by one
// run.
int run_fixture_trial(App& app, const Config& config, const DevOptions& options);

}  // namespace hookgate
