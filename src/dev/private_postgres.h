#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <sys/types.h>

#include "dev/child_process.h"

namespace hookgate {

// The private server cannot be made, started or reached; the text is for the user and says what to
// do about it.
class PrivatePostgresError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct PrivatePostgresOptions {
  std::filesystem::path data_dir;  // made when missing; holds data/, postgres.log and .lock
  bool durable = true;  // false: no fsync; survives a killed server, not a crashed machine
  int max_connections = 200;
  std::chrono::milliseconds start_limit{30'000};  // from the server's start until it answers
};

// A PostgreSQL server of our own, as a child process, for `hookgate dev` and tests. It needs the
// server's programs on the machine and nothing else: no service, no port, no account.
//
// - Reached only by a Unix socket in a folder that only its account may enter.
// - Run by root it becomes the account `postgres`, since PostgreSQL refuses to run as root. Where
//   that account cannot enter `data_dir`, the data are kept under /var/lib/hookgate-dev, and
//   `notice` says so.
// - The folder is locked between start() and stop(), so that two processes cannot share it.
// - When we die without stop(), the kernel asks the server to stop. One that is still there at the
//   next start() is stopped then; the data survive either way.
//
// One thread at a time; the thread that calls start() must live until stop(): the kernel's request
// above is bound to that thread, and its end stops the server.
class PrivatePostgres {
 public:
  using Options = PrivatePostgresOptions;

  explicit PrivatePostgres(Options options);
  ~PrivatePostgres();
  PrivatePostgres(const PrivatePostgres&) = delete;
  PrivatePostgres& operator=(const PrivatePostgres&) = delete;

  // Returns when the server answers; the first time it also makes the data (a second or two). Does
  // nothing when it runs. Throws PrivatePostgresError, and then no server of ours is left.
  void start();

  // Ends the server in good order (open transactions are rolled back), harder if it does not obey,
  // and unlocks the folder. Bounded; twice is fine, before start() is fine.
  void stop() noexcept;

  // Ends the server as a power cut would, for tests of what survives. start() works afterwards; the
  // folder stays locked until stop().
  void kill_now();

  // Connection string of a superuser on the database `postgres`; the same at every start of one
  // folder. Empty before the first start().
  std::string url() const;

  // What the user should know about the last start(), one line each; "" when all went as asked.
  const std::string& notice() const { return notice_; }

  pid_t pid() const { return postmaster_; }  // 0 when it does not run

 private:
  void prepare();
  void lock();
  void unlock() noexcept;
  void choose_place();
  void make_data();
  void stop_leftovers();
  void prepare_socket_folder();
  void launch();
  void wait_until_ready(std::int64_t log_offset);
  void add_notice(const std::string& line);

  const Options options_;
  Identity identity_;
  std::filesystem::path home_;      // data_dir, absolute and without links
  std::filesystem::path place_;     // where data/ is: home_, or its stand-in
  std::filesystem::path programs_;  // the folder of postgres and initdb
  std::filesystem::path socket_folder_;
  std::string notice_;
  int lock_fd_ = -1;
  int log_fd_ = -1;
  pid_t postmaster_ = 0;
};

}  // namespace hookgate
