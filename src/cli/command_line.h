#pragma once

namespace hookgate {

// Reads the arguments, runs the subcommand they name, and returns the process's exit code: 0 done;
// 1 the work failed; 2 wrong usage or configuration, with one line on stderr; 3 the database or the
// gateway cannot be reached.
int run_command_line(int argc, char** argv);

}  // namespace hookgate
