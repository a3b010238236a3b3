#include "dev/child_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hookgate {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds{5};
constexpr int kCannotRun = 127;  // the shell's status for a program that cannot be run

// Between fork and exec only async-signal-safe calls are allowed: other threads may have held the
// allocator's lock. So no function below allocates.
bool change_to(const Identity& identity) {
  if (!identity.is_other) return true;
  return setgroups(identity.groups.size(), identity.groups.data()) == 0 &&
         setgid(identity.gid) == 0 && setuid(identity.uid) == 0;
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) {
    std::signal(number, SIG_DFL);  // fails for SIGKILL and SIGSTOP, which need it least
  }
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

bool redirect(int output_fd) {
  const int null = open("/dev/null", O_RDONLY);
  return null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output_fd, STDOUT_FILENO) >= 0 &&
         dup2(output_fd, STDERR_FILENO) >= 0;
}

void close_all_but_standard() {
  constexpr unsigned kFirst = 3;
  if (close_range(kFirst, ~0U, 0) == 0) return;
  const auto limit = sysconf(_SC_OPEN_MAX);  // a kernel before 5.9, or a sandbox
  for (int fd = kFirst; fd < limit; ++fd) close(fd);
}

[[noreturn]] void give_up(std::string_view what) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, what.data(), what.size());
  _exit(kCannotRun);
}

[[noreturn]] void become(const ChildCommand& command, char* const* arguments, pid_t parent) {
  setsid();
  reset_signals();
  if (!redirect(command.output_fd)) _exit(kCannotRun);
  close_all_but_standard();
  // The programs resolve their own path through the working directory, which the account may not
  // be able to read.
  if (chdir("/") != 0 || !change_to(command.identity)) give_up("cannot change the account\n");
  if (command.signal_at_our_end != 0) {
    // After the change of account, which clears it. The parent may have ended before that.
    prctl(PR_SET_PDEATHSIG, command.signal_at_our_end);
    if (getppid() != parent) _exit(kCannotRun);
  }
  execv(arguments[0], arguments);
  give_up("cannot run the program\n");
}

}  // namespace

Identity current_identity() {
  return {.uid = geteuid(), .gid = getegid(), .groups = {}};
}

std::optional<Identity> identity_of(const std::string& user) {
  constexpr std::size_t kBufferBytes = 16 * 1024;
  std::vector<char> buffer(kBufferBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found) {
    return std::nullopt;
  }
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (getgrouplist(user.c_str(), entry.pw_gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
    getgrouplist(user.c_str(), entry.pw_gid, groups.data(), &count);
  }
  groups.resize(static_cast<std::size_t>(count));
  return Identity{.uid = entry.pw_uid,
                  .gid = entry.pw_gid,
                  .groups = std::move(groups),
                  .is_other = entry.pw_uid != geteuid()};
}

pid_t spawn(const ChildCommand& command) {
  std::vector<char*> arguments;
  for (const auto& argument : command.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error{errno, std::generic_category(), "cannot start a process"};
  if (child == 0) become(command, arguments.data(), parent);
  return child;
}

std::optional<int> wait_for_child(pid_t child, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno == ECHILD) return 0;
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(kPollInterval);
  }
}

bool can_enter(const Identity& identity, const std::filesystem::path& folder) {
  const char* const path = folder.c_str();
  const pid_t child = fork();  // the kernel's own answer, with groups and access lists
  if (child < 0) throw std::system_error{errno, std::generic_category(), "cannot start a process"};
  if (child == 0) _exit(change_to(identity) && access(path, X_OK) == 0 ? 0 : 1);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hookgate
