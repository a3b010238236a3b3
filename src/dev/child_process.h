#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace hookgate {

// Whom a child process runs as.
struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  bool is_other = false;  // not who we are: the child must change to it, which takes root
};

// Who we are.
Identity current_identity();

// The account of that name; nothing when there is none.
std::optional<Identity> identity_of(const std::string& user);

struct ChildCommand {
  std::vector<std::string> arguments;  // [0] is the program's absolute path
  Identity identity;
  int output_fd = 1;          // becomes its stdout and stderr; stdin is /dev/null
  int signal_at_our_end = 0;  // sent to the child when the thread that spawned it ends; 0 for none
};

// Starts a child in a session of its own, so that the terminal's Ctrl-C reaches only us, with
// working directory `/`, default signal handling, and no descriptor of ours. A program that cannot
// be run ends with status 127. Throws std::system_error when there can be no child.
//
// The kernel watches the calling *thread* for `signal_at_our_end`, not the process: call this from
// a thread that lives as long as the child should.
pid_t spawn(const ChildCommand& command);

// The status of our child (as of waitpid) once it has ended, within `limit`; nothing after that.
// A child that was already collected counts as ended with status 0.
std::optional<int> wait_for_child(pid_t child, std::chrono::milliseconds limit);

// Whether that account may pass through every folder on the way to `folder` and `folder` itself.
bool can_enter(const Identity& identity, const std::filesystem::path& folder);

}  // namespace hookgate
