#include "dev/private_postgres.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <libpq-fe.h>
#include <spdlog/fmt/fmt.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev/leftover_servers.h"
#include "dev/postgres_programs.h"

namespace hookgate {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kAccount = "postgres";
constexpr auto kStandInParent = "/var/lib/hookgate-dev";
constexpr std::uintmax_t kLogBytesMax = 16 * 1024 * 1024;  // a longer log is begun anew at a start
constexpr seconds kInitLimit{120};
constexpr seconds kGoodOrderLimit{20};  // a clean stop writes a checkpoint
constexpr seconds kForceLimit{5};
constexpr milliseconds kProbeInterval{20};

std::string reason_of(int error) {
  return std::generic_category().message(error);
}

// Names a folder's stand-in and socket: the same at every run and short, for a socket's path has
// at most 107 bytes. FNV-1a.
std::string short_name_of(const fs::path& folder) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const unsigned char byte : folder.string()) hash = (hash ^ byte) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

// Makes the folder, or takes one that is there if it is a real folder of that owner: in /tmp
// anybody may have put something under our name. False when it cannot be made at all.
bool make_owned_folder(const fs::path& folder, mode_t mode, const Identity& owner) {
  if (mkdir(folder.c_str(), mode) == 0) {
    return chmod(folder.c_str(), mode) == 0 &&
           (!owner.is_other || chown(folder.c_str(), owner.uid, owner.gid) == 0);
  }
  if (errno != EEXIST) return false;
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != owner.uid) {
    throw PrivatePostgresError{
        fmt::format("{} is there but belongs to somebody else; remove it", folder.string())};
  }
  return chmod(folder.c_str(), mode) == 0;
}

// What the log holds from `offset` on, its last `lines`, for an error message.
std::string end_of_log(const fs::path& log, std::streamoff offset, int lines) {
  std::ifstream in{log};
  in.seekg(offset);
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  auto start = text.size();
  for (int i = 0; i <= lines && start != std::string::npos && start > 0; ++i) {
    start = text.rfind('\n', start - 1);
  }
  return start == std::string::npos || start == 0 ? text : text.substr(start + 1);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

int major_of(const fs::path& data) {
  std::ifstream in{data / "PG_VERSION"};
  int major = 0;
  in >> major;
  return major;
}

}  // namespace

PrivatePostgres::PrivatePostgres(Options options) : options_(std::move(options)) {}

PrivatePostgres::~PrivatePostgres() {
  stop();
}

void PrivatePostgres::start() {
  if (postmaster_ != 0 && !wait_for_child(postmaster_, milliseconds{0})) return;
  postmaster_ = 0;
  try {
    prepare();
    const auto log_offset = lseek(log_fd_, 0, SEEK_END);
    launch();
    wait_until_ready(log_offset);
  } catch (const std::system_error& error) {
    stop();
    throw PrivatePostgresError{error.what()};
  } catch (...) {
    stop();
    throw;
  }
}

void PrivatePostgres::stop() noexcept {
  if (postmaster_ != 0) {
    // PostgreSQL's words: SIGINT is a fast shutdown, SIGQUIT an immediate one.
    for (const auto& [number, limit] :
         std::array{std::pair{SIGINT, kGoodOrderLimit}, std::pair{SIGQUIT, kForceLimit},
                    std::pair{SIGKILL, kForceLimit}}) {
      kill(postmaster_, number);
      kill(postmaster_, SIGCONT);  // lets a suspended one see it
      if (wait_for_child(postmaster_, limit)) break;
    }
    postmaster_ = 0;
  }
  if (lock_fd_ >= 0 && !socket_folder_.empty()) {
    std::error_code ignored;
    fs::remove(socket_folder_, ignored);  // only when empty, as it is after a stop in good order
  }
  if (log_fd_ >= 0) close(std::exchange(log_fd_, -1));
  unlock();
}

void PrivatePostgres::kill_now() {
  if (postmaster_ == 0) return;
  kill(postmaster_, SIGKILL);
  wait_for_child(postmaster_, kForceLimit);
  postmaster_ = 0;
}

std::string PrivatePostgres::url() const {
  if (socket_folder_.empty()) return "";
  // The port is only a part of the socket's name, and keeps PGPORT of the environment out.
  return fmt::format("postgresql:///postgres?host={}&port=5432&user=postgres",
                     socket_folder_.string());
}

void PrivatePostgres::prepare() {
  notice_.clear();
  identity_ = current_identity();
  if (identity_.uid == 0) {
    auto account = identity_of(kAccount);
    if (!account) {
      throw PrivatePostgresError{
          "PostgreSQL does not run as root and there is no account 'postgres': install "
          "PostgreSQL's "
          "server (on Debian: apt-get install postgresql) or run as another user"};
    }
    identity_ = std::move(*account);
  }
  lock();
  choose_place();
  const auto data = place_ / "data";
  const int major = major_of(data);
  auto programs = find_postgres_programs(major);
  if (!programs) {
    throw PrivatePostgresError{
        major == 0 ? "PostgreSQL's server programs (postgres, initdb) are not on this machine: "
                     "install them (on Debian: apt-get install postgresql)"
                   : fmt::format("{} was made by PostgreSQL {}, which is not on this machine: "
                                 "install that version or use another folder",
                                 data.string(), major)};
  }
  programs_ = std::move(*programs);
  make_data();
  stop_leftovers();
  prepare_socket_folder();
}

// Makes the folder, locks it, and opens the log in it, as ourselves: only data/ is the account's.
void PrivatePostgres::lock() {
  if (fs::create_directories(options_.data_dir) && identity_.is_other) {
    // Whatever the umask, the account must pass through to data/; it need not list the folder.
    fs::permissions(options_.data_dir, fs::perms{0711});
  }
  home_ = fs::canonical(options_.data_dir);
  if (lock_fd_ < 0) {
    const auto file = home_ / ".lock";
    const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
      throw PrivatePostgresError{
          fmt::format("cannot write in {}: {}", home_.string(), reason_of(errno))};
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      close(fd);
      std::ifstream in{file};
      std::string holder;
      in >> holder;
      throw PrivatePostgresError{fmt::format(
          "{} is in use by process {}; stop it or use another folder", home_.string(), holder)};
    }
    lock_fd_ = fd;
    const auto text = fmt::format("{}\n", getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text.data(), text.size(), 0) < 0) {
      throw PrivatePostgresError{
          fmt::format("cannot write {}: {}", file.string(), reason_of(errno))};
    }
  }
  if (log_fd_ >= 0) return;
  const auto log = home_ / "postgres.log";
  std::error_code missing;
  const bool is_long = fs::file_size(log, missing) > kLogBytesMax && !missing;
  log_fd_ =
      open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (is_long ? O_TRUNC : 0), 0644);
  if (log_fd_ < 0) {
    throw PrivatePostgresError{fmt::format("cannot write {}: {}", log.string(), reason_of(errno))};
  }
}

void PrivatePostgres::unlock() noexcept {
  if (lock_fd_ >= 0) close(std::exchange(lock_fd_, -1));
}

void PrivatePostgres::choose_place() {
  place_ = home_;
  if (can_enter(identity_, home_)) return;
  if (!identity_.is_other) {
    throw PrivatePostgresError{fmt::format("{} cannot be entered", home_.string())};
  }
  place_ = fs::path{kStandInParent} / short_name_of(home_);
  fs::create_directories(place_);
  fs::permissions(kStandInParent, fs::perms{0755});
  fs::permissions(place_, fs::perms{0711});
  add_notice(fmt::format("the account '{}' cannot enter {}; the database is kept in {}", kAccount,
                         home_.string(), place_.string()));
}

// In a folder beside it first, so that an initdb that was cut off leaves nothing half made.
void PrivatePostgres::make_data() {
  const auto data = place_ / "data";
  struct stat status {};
  if (lstat(data.c_str(), &status) == 0) {
    if (status.st_uid == identity_.uid) return;
    throw PrivatePostgresError{
        fmt::format("{} belongs to account number {} and PostgreSQL would run as {}: run as that "
                    "user or use another folder",
                    data.string(), status.st_uid, identity_.uid)};
  }
  const auto unfinished = place_ / "data.tmp";
  end_postgres_processes_in(unfinished);
  fs::remove_all(unfinished);
  if (!make_owned_folder(unfinished, 0700, identity_)) {
    throw PrivatePostgresError{
        fmt::format("cannot make {}: {}", unfinished.string(), reason_of(errno))};
  }
  std::vector<std::string> arguments{(programs_ / "initdb").string(),
                                     "-D",
                                     unfinished.string(),
                                     "-U",
                                     kAccount,
                                     "-A",
                                     "trust",
                                     "-E",
                                     "UTF8",
                                     "--locale=C.UTF-8"};
  if (!options_.durable) arguments.emplace_back("--no-sync");
  const auto log_offset = lseek(log_fd_, 0, SEEK_END);
  const pid_t initdb = spawn({.arguments = std::move(arguments),
                              .identity = identity_,
                              .output_fd = log_fd_,
                              .signal_at_our_end = SIGTERM});
  const auto ended = wait_for_child(initdb, kInitLimit);
  if (!ended) {
    kill(initdb, SIGKILL);
    wait_for_child(initdb, kForceLimit);
    throw PrivatePostgresError{fmt::format("initdb took longer than {} s", kInitLimit.count())};
  }
  if (*ended != 0) {
    throw PrivatePostgresError{fmt::format("initdb {}: {}", how_it_ended(*ended),
                                           end_of_log(home_ / "postgres.log", log_offset, 5))};
  }
  fs::rename(unfinished, data);
}

void PrivatePostgres::stop_leftovers() {
  const auto data = place_ / "data";
  const auto leftovers = postgres_processes_in(data);
  if (!leftovers.empty()) {
    if (!end_postgres_processes_in(data)) {
      throw PrivatePostgresError{fmt::format(
          "a PostgreSQL server of an earlier run (process {}) works in {} and does not end",
          leftovers.front(), data.string())};
    }
    add_notice("stopped the PostgreSQL server that an earlier run had left");
  }
  // Nobody works here now. PostgreSQL would refuse to start if the number in the file had meanwhile
  // gone to another process of this account.
  fs::remove(data / "postmaster.pid");
}

void PrivatePostgres::prepare_socket_folder() {
  const auto name = short_name_of(place_);
  const Identity ourselves = current_identity();
  // Only root may write in /run, so nobody can have put something there under our name.
  if (ourselves.uid == 0 && make_owned_folder("/run/hookgate-dev", 0755, ourselves)) {
    socket_folder_ = fs::path{"/run/hookgate-dev"} / name;
  } else {
    socket_folder_ = fmt::format("/tmp/hookgate-dev-{}-{}", identity_.uid, name);
  }
  if (!make_owned_folder(socket_folder_, 0700, identity_)) {
    throw PrivatePostgresError{
        fmt::format("cannot make {}: {}", socket_folder_.string(), reason_of(errno))};
  }
  for (const char* const file : {".s.PGSQL.5432", ".s.PGSQL.5432.lock"}) {
    fs::remove(socket_folder_ / file);  // of a server that was killed
  }
}

void PrivatePostgres::launch() {
  std::vector<std::string> arguments{(programs_ / "postgres").string(), "-D",
                                     (place_ / "data").string()};
  const auto set = [&](std::string_view name, std::string_view value) {
    arguments.emplace_back("-c");
    arguments.push_back(fmt::format("{}={}", name, value));
  };
  set("listen_addresses", "");
  set("port", "5432");
  set("unix_socket_directories", socket_folder_.string());
  set("max_connections", std::to_string(options_.max_connections));
  set("log_destination", "stderr");
  set("logging_collector", "off");
  if (!options_.durable) {
    set("fsync", "off");
    set("full_page_writes", "off");
  }
  postmaster_ = spawn({.arguments = std::move(arguments),
                       .identity = identity_,
                       .output_fd = log_fd_,
                       .signal_at_our_end = SIGINT});
}

void PrivatePostgres::wait_until_ready(std::int64_t log_offset) {
  const auto log = home_ / "postgres.log";
  const auto probe = url() + "&connect_timeout=2";
  const auto deadline = std::chrono::steady_clock::now() + options_.start_limit;
  while (PQping(probe.c_str()) != PQPING_OK) {
    if (const auto ended = wait_for_child(postmaster_, kProbeInterval)) {
      postmaster_ = 0;
      throw PrivatePostgresError{fmt::format("PostgreSQL {} while starting: {}",
                                             how_it_ended(*ended), end_of_log(log, log_offset, 5))};
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      throw PrivatePostgresError{fmt::format("PostgreSQL does not answer after {} ms; see {}",
                                             options_.start_limit.count(), log.string())};
    }
  }
}

void PrivatePostgres::add_notice(const std::string& line) {
  if (!notice_.empty()) notice_ += '\n';
  notice_ += line;
}

}  // namespace hookgate
