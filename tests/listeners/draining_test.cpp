#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>

#include "listener_process.h"
#include "raw_socket.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

class DrainingTest : public ListenerProcessTest {
 protected:
  std::string server_settings() const override { return "shutdown_grace = \"8s\"\n"; }

  void SetUp() override {
    ListenerProcessTest::SetUp();
    if (IsSkipped()) return;
    database().execute(
        "CREATE FUNCTION public.wait_a_moment() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$");
    database().execute(
        "CREATE TRIGGER slow AFTER INSERT ON hookgate.events FOR EACH STATEMENT "
        "EXECUTE FUNCTION public.wait_a_moment()");
  }
  // Until a commit is held up by the trigger.
  void wait_for_a_commit() {
    const auto until = steady_clock::now() + seconds{5};
    while (database().count("pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = "
                            "current_database()") == 0) {
      ASSERT_LT(steady_clock::now(), until);
      std::this_thread::sleep_for(milliseconds{5});  // another process can only be polled
    }
  }
  bool is_stored(const std::string& event) {
    return database().count("hookgate.events WHERE event_id = '" + event + "'") == 1;
  }
  void send_probe(RawSocket& socket) const {
    socket.send("GET /healthz HTTP/1.1\r\nHost: gateway.test\r\n\r\n");
    ASSERT_EQ(socket.read_answers(1).size(), 1U);
  }
};

INSTANTIATE_TEST_SUITE_P(Listener, DrainingTest, testing::Values(kReactor, kHttplib),
                         listener_name);

std::string event_name(std::size_t number) {
  return "evt_" + std::to_string(number);
}

TEST_P(DrainingTest, AnswersAllThatWasAccepted) {
  std::vector<RawSocket> sockets;
  for (std::size_t i = 0; i < 40; ++i) {
    sockets.emplace_back(address());
    send_probe(sockets.back());
  }
  for (std::size_t i = 0; i < sockets.size(); ++i)
    sockets[i].send(RequestText{event_name(i)}.bytes());
  wait_for_a_commit();
  const auto began = steady_clock::now();
  EXPECT_EQ(process().terminate(), 0);
  EXPECT_LT(steady_clock::now() - began, seconds{8});
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    const auto statuses = statuses_of(sockets[i].read_answers(1, milliseconds{0}));
    ASSERT_EQ(statuses.size(), 1U) << i;
    EXPECT_EQ(statuses.front(), is_stored(event_name(i)) ? 200 : 503) << i;
  }
}

TEST_P(DrainingTest, RunsNoPipelinedRequestWithoutItsAnswer) {
  std::vector<RawSocket> sockets;
  for (std::size_t i = 0; i < 10; ++i) {
    sockets.emplace_back(address());
    send_probe(sockets.back());
    std::string all;
    for (std::size_t k = 0; k < 3; ++k) all += RequestText{event_name(10 * i + k)}.bytes();
    sockets.back().send(all);
  }
  wait_for_a_commit();
  EXPECT_EQ(process().terminate(), 0);
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    const auto answers = sockets[i].read_answers(3, milliseconds{0});
    ASSERT_FALSE(answers.empty()) << i;
    EXPECT_TRUE(answers.size() == 3 || answers.back().header("Connection") == "close") << i;
    for (std::size_t k = 0; k < 3; ++k) {
      const bool is_told = k < answers.size() && answers[k].status == 200;
      EXPECT_EQ(is_stored(event_name(10 * i + k)), is_told) << i << " " << k;
    }
  }
}

TEST_P(DrainingTest, RefusesNewConnectionsWhileItFinishes) {
  RawSocket socket{address()};
  socket.send(RequestText{"evt_last"}.bytes());
  RawSocket idle{address()};
  send_probe(idle);
  wait_for_a_commit();
  ::kill(process().pid(), SIGTERM);
  const auto until = steady_clock::now() + seconds{5};
  while (!refuses_connections(address())) ASSERT_LT(steady_clock::now(), until);
  EXPECT_TRUE(process().is_running());
  EXPECT_EQ(statuses_of(socket.read_answers(1)), std::vector{200});
  EXPECT_EQ(idle.wait_for_close(), RawSocket::State::kClosed);
  EXPECT_EQ(process().wait(8), 0);
}

TEST_P(DrainingTest, CutsPeersThatDoNotFinish) {
  RawSocket slow{address()};
  const RequestText request{"evt_slow"};
  slow.send(request.head());
  send_probe(*std::make_unique<RawSocket>(address()));
  const auto began = steady_clock::now();
  EXPECT_EQ(process().terminate(), 0);
  EXPECT_LT(steady_clock::now() - began, seconds{9});
}

}  // namespace
}  // namespace hookgate
