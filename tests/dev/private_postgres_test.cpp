#include "dev/private_postgres.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev/child_process.h"
#include "dev/leftover_servers.h"
#include "dev/postgres_programs.h"

namespace hookgate {
namespace {

namespace fs = std::filesystem;

// One client connection; statements give the first field, or the server's error.
class Client {
 public:
  explicit Client(const std::string& url) : connection_(PQconnectdb(url.c_str()), PQfinish) {}

  std::string ask(const char* statement) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result{PQexec(connection_.get(), statement),
                                                               PQclear};
    if (PQresultStatus(result.get()) == PGRES_TUPLES_OK && PQntuples(result.get()) > 0) {
      return PQgetvalue(result.get(), 0, 0);
    }
    return PQresultStatus(result.get()) == PGRES_COMMAND_OK ? ""
                                                            : PQerrorMessage(connection_.get());
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

std::string ask(const PrivatePostgres& postgres, const char* statement) {
  return Client{postgres.url()}.ask(statement);
}

// What start() complains of; "" when it does not.
std::string refusal_of(PrivatePostgres& postgres) {
  try {
    postgres.start();
  } catch (const PrivatePostgresError& error) {
    return error.what();
  }
  return "";
}

class PrivatePostgresTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_postgres_programs(0)) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << "PostgreSQL's server programs are missing";
      GTEST_SKIP() << "PostgreSQL's server programs are not on this machine";
    }
    std::string name = "/tmp/hookgate-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::permissions(root_, fs::perms{0755});
  }

  void TearDown() override {
    if (root_.empty()) return;
    end_postgres_processes_in(fs::weakly_canonical(folder()) / "data");  // what a failed test left
    fs::remove_all(root_);
  }

  fs::path root() const { return root_; }
  fs::path folder() const { return root_ / "home"; }
  std::string log() const {
    std::ifstream in{folder() / "postgres.log"};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  PrivatePostgresOptions options() const { return {.data_dir = folder(), .durable = false}; }

  // Starts a server in another process, which is then killed without warning. With `suspended`
  // the server cannot obey the kernel's request to stop, so that it is still there afterwards.
  // Returns the server's process number.
  pid_t leave_a_server(bool suspended) {
    std::array<int, 2> pipe_fds{};
    EXPECT_EQ(pipe(pipe_fds.data()), 0);
    const pid_t owner = fork();
    if (owner == 0) own_until_killed(pipe_fds[1]);
    pid_t postmaster = 0;
    EXPECT_EQ(read(pipe_fds[0], &postmaster, sizeof postmaster), ssize_t{sizeof postmaster});
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    if (suspended) kill(postmaster, SIGSTOP);
    kill(owner, SIGKILL);
    waitpid(owner, nullptr, 0);
    return postmaster;
  }

 private:
  [[noreturn]] void own_until_killed(int report_fd) {
    PrivatePostgres postgres{options()};
    postgres.start();
    ask(postgres, "CREATE TABLE kept AS SELECT 42 AS answer");
    const pid_t postmaster = postgres.pid();
    if (write(report_fd, &postmaster, sizeof postmaster) < 0) _exit(1);
    while (true) pause();
  }

  fs::path root_;
};

TEST_F(PrivatePostgresTest, AnswersOnceStarted) {
  PrivatePostgres postgres{options()};
  EXPECT_EQ(postgres.url(), "");
  postgres.start();
  EXPECT_EQ(ask(postgres, "SELECT 6 * 7"), "42");
  EXPECT_EQ(postgres.notice(), "");
}

TEST_F(PrivatePostgresTest, IsUtf8WithTheByteOrderOfTheCLocale) {
  PrivatePostgres postgres{options()};
  postgres.start();
  EXPECT_EQ(ask(postgres, "SHOW server_encoding"), "UTF8");
  EXPECT_EQ(ask(postgres, "SHOW lc_collate"), "C.UTF-8");
}

TEST_F(PrivatePostgresTest, ListensOnNoNetworkAddress) {
  PrivatePostgres postgres{options()};
  postgres.start();
  EXPECT_EQ(ask(postgres, "SHOW listen_addresses"), "");
}

TEST_F(PrivatePostgresTest, KeepsTheSocketInAFolderOnlyItsAccountMayEnter) {
  PrivatePostgres postgres{options()};
  postgres.start();
  const fs::path sockets{ask(postgres, "SHOW unix_socket_directories")};
  EXPECT_EQ(fs::status(sockets).permissions(), fs::perms{0700});
}

TEST_F(PrivatePostgresTest, SyncsToDiskUnlessToldOtherwise) {
  PrivatePostgres postgres{{.data_dir = folder()}};
  postgres.start();
  EXPECT_EQ(ask(postgres, "SHOW fsync"), "on");
  EXPECT_EQ(ask(postgres, "SHOW max_connections"), "200");
}

TEST_F(PrivatePostgresTest, KeepsDataAndAddressAcrossStopAndStart) {
  PrivatePostgres postgres{options()};
  postgres.start();
  const auto url = postgres.url();
  ask(postgres, "CREATE TABLE kept AS SELECT 42 AS answer");
  postgres.stop();
  EXPECT_EQ(PQping(url.c_str()), PQPING_NO_RESPONSE);
  postgres.start();
  EXPECT_EQ(postgres.url(), url);
  EXPECT_EQ(ask(postgres, "SELECT answer FROM kept"), "42");
}

TEST_F(PrivatePostgresTest, StopsTwiceAndBeforeStart) {
  PrivatePostgres postgres{options()};
  postgres.stop();
  postgres.start();
  postgres.stop();
  postgres.stop();
  EXPECT_EQ(postgres.pid(), 0);
}

TEST_F(PrivatePostgresTest, StopsInGoodOrderWithAClientConnected) {
  PrivatePostgres postgres{options()};
  postgres.start();
  Client client{postgres.url()};
  ASSERT_EQ(client.ask("SELECT 1"), "1");
  postgres.stop();
  EXPECT_NE(log().find("fast shutdown request"), std::string::npos);
  EXPECT_NE(log().find("database system is shut down"), std::string::npos);
}

TEST_F(PrivatePostgresTest, StopsASuspendedServer) {
  PrivatePostgres postgres{options()};
  postgres.start();
  kill(postgres.pid(), SIGSTOP);
  postgres.stop();
  EXPECT_NE(log().find("fast shutdown request"), std::string::npos);
  EXPECT_NE(log().find("database system is shut down"), std::string::npos);
}

TEST_F(PrivatePostgresTest, IsOutOfReachOfTheTerminalsCtrlC) {
  PrivatePostgres postgres{options()};
  postgres.start();
  EXPECT_EQ(getsid(postgres.pid()), postgres.pid());
}

TEST_F(PrivatePostgresTest, HoldsNoDescriptorOfOurs) {
  std::array<int, 2> pipe_fds{};
  ASSERT_EQ(pipe(pipe_fds.data()), 0);
  PrivatePostgres postgres{options()};
  postgres.start();
  close(pipe_fds[1]);
  pollfd end_of_file{.fd = pipe_fds[0], .events = POLLIN, .revents = 0};
  poll(&end_of_file, 1, 0);
  EXPECT_TRUE(end_of_file.revents & POLLHUP);
  close(pipe_fds[0]);
}

TEST_F(PrivatePostgresTest, RefusesASecondServerInOneFolderAndNamesItsOwner) {
  PrivatePostgres first{options()};
  PrivatePostgres second{options()};
  first.start();
  EXPECT_NE(refusal_of(second).find("in use by process " + std::to_string(getpid())),
            std::string::npos);
  EXPECT_EQ(ask(first, "SELECT 1"), "1");
}

TEST_F(PrivatePostgresTest, FreesTheFolderWhenItStops) {
  PrivatePostgres first{options()};
  first.start();
  first.stop();
  PrivatePostgres second{options()};
  EXPECT_EQ(refusal_of(second), "");
}

TEST_F(PrivatePostgresTest, StartsAgainAfterItWasKilledWithAClientConnected) {
  PrivatePostgres postgres{options()};
  postgres.start();
  Client client{postgres.url()};
  client.ask("CREATE TABLE kept AS SELECT 42 AS answer");
  postgres.kill_now();
  postgres.start();
  EXPECT_EQ(ask(postgres, "SELECT answer FROM kept"), "42");
}

TEST_F(PrivatePostgresTest, StartsAgainThoughASessionOfTheKilledServerIsLeft) {
  PrivatePostgres postgres{options()};
  postgres.start();
  Client client{postgres.url()};
  const pid_t session = std::stoi(client.ask("SELECT pg_backend_pid()"));
  kill(session, SIGSTOP);
  postgres.kill_now();
  postgres.start();
  EXPECT_EQ(ask(postgres, "SELECT 1"), "1");
}

TEST_F(PrivatePostgresTest, StartsAgainWhenTheServerDiedUnderIt) {
  PrivatePostgres postgres{options()};
  postgres.start();
  kill(postgres.pid(), SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(postgres.pid()), &ended, WEXITED | WNOWAIT), 0);
  postgres.start();
  EXPECT_EQ(ask(postgres, "SELECT 1"), "1");
}

TEST_F(PrivatePostgresTest, TheServerStopsWhenItsOwnerIsKilled) {
  const pid_t postmaster = leave_a_server(false);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (kill(postmaster, 0) == 0 && std::chrono::steady_clock::now() < deadline) continue;
  EXPECT_TRUE(postgres_processes_in(fs::canonical(folder()) / "data").empty());
  PrivatePostgres next{options()};
  next.start();
  EXPECT_EQ(ask(next, "SELECT answer FROM kept"), "42");
  EXPECT_EQ(next.notice(), "");
}

TEST_F(PrivatePostgresTest, ReplacesAServerThatOutlivedItsOwner) {
  const pid_t left = leave_a_server(true);
  ASSERT_EQ(kill(left, 0), 0);
  PrivatePostgres postgres{options()};
  postgres.start();
  EXPECT_EQ(ask(postgres, "SELECT answer FROM kept"), "42");
  EXPECT_NE(postgres.pid(), left);
  EXPECT_NE(postgres.notice().find("earlier run"), std::string::npos);
}

TEST_F(PrivatePostgresTest, LeavesAStrangerAloneWhoseNumberIsInTheOldPidFile) {
  PrivatePostgres postgres{options()};
  postgres.start();
  postgres.stop();
  const auto account = geteuid() == 0 ? *identity_of("postgres") : current_identity();
  const pid_t stranger = spawn({.arguments = {"/bin/sleep", "300"}, .identity = account});
  std::ofstream{folder() / "data" / "postmaster.pid"} << stranger << "\n";
  EXPECT_EQ(refusal_of(postgres), "");
  EXPECT_FALSE(wait_for_child(stranger, std::chrono::milliseconds{0}));
  kill(stranger, SIGKILL);
  wait_for_child(stranger, std::chrono::seconds{5});
}

TEST_F(PrivatePostgresTest, LeavesAShellInTheDataFolderAlone) {
  PrivatePostgres postgres{options()};
  postgres.start();
  postgres.stop();
  const auto data = folder() / "data";
  const pid_t shell = fork();
  if (shell == 0) {
    if (chdir(data.c_str()) != 0) _exit(1);
    raise(SIGSTOP);  // tells that it is there
    while (true) pause();
  }
  waitpid(shell, nullptr, WUNTRACED);
  EXPECT_EQ(refusal_of(postgres), "");
  EXPECT_FALSE(wait_for_child(shell, std::chrono::milliseconds{0}));
  kill(shell, SIGKILL);
  waitpid(shell, nullptr, 0);
}

TEST_F(PrivatePostgresTest, StartsOverAfterAnInitdbThatWasCutOff) {
  fs::create_directories(folder() / "data.tmp" / "base");
  PrivatePostgres postgres{options()};
  postgres.start();
  EXPECT_EQ(ask(postgres, "SELECT 1"), "1");
  EXPECT_FALSE(fs::exists(folder() / "data.tmp"));
}

TEST_F(PrivatePostgresTest, SaysWhatTheServerSaidWhenItCannotStart) {
  PrivatePostgres postgres{options()};
  postgres.start();
  postgres.stop();
  std::ofstream{folder() / "data" / "postgresql.conf", std::ios::app} << "no_such_setting = 1\n";
  EXPECT_NE(refusal_of(postgres).find("no_such_setting"), std::string::npos);
  EXPECT_EQ(postgres.pid(), 0);
}

TEST_F(PrivatePostgresTest, SaysWhichVersionTheDataNeed) {
  fs::create_directories(folder() / "data");
  std::ofstream{folder() / "data" / "PG_VERSION"} << "8\n";
  PrivatePostgres postgres{options()};
  EXPECT_NE(refusal_of(postgres).find("PostgreSQL 8"), std::string::npos);
}

TEST_F(PrivatePostgresTest, KeepsTheDataElsewhereWhenItsAccountCannotEnterTheFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs the server under another account";
  fs::permissions(root(), fs::perms{0700});
  PrivatePostgres postgres{options()};
  postgres.start();
  EXPECT_EQ(ask(postgres, "SELECT 1"), "1");
  const fs::path data{ask(postgres, "SHOW data_directory")};
  EXPECT_NE(postgres.notice().find(data.parent_path().string()), std::string::npos);
  EXPECT_FALSE(fs::exists(folder() / "data"));
  postgres.stop();
  fs::remove_all(data.parent_path());
}

}  // namespace
}  // namespace hookgate
