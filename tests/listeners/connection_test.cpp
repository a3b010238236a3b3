#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "listener_support.h"
#include "raw_socket.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;

class ConnectionTest : public ListenerTest {
 protected:
  // Commits of that event take a moment.
  void slow_down(const std::string& event_id) {
    database().execute(
        "CREATE FUNCTION public.wait_a_moment() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$");
    database().execute(
        "CREATE TRIGGER slow BEFORE INSERT ON hookgate.events FOR EACH ROW WHEN (NEW.event_id = '" +
        event_id + "') EXECUTE FUNCTION public.wait_a_moment()");
  }
  std::string stored_head(const std::string& event_id) {
    return database().value(
        "SELECT encode(b.head, 'escape') FROM hookgate.event_bodies b JOIN hookgate.events e ON "
        "e.id = b.event WHERE e.event_id = '" +
        event_id + "'");
  }
};

INSTANTIATE_TEST_SUITE_P(Listener, ConnectionTest, testing::Values(kReactor, kHttplib),
                         listener_name);

std::string numbered(const std::string& word, int number) {
  return word + "_" + std::to_string(number);
}

RequestText expecting(const std::string& event_id) {
  RequestText request{event_id};
  request.add("Expect: 100-continue");
  return request;
}

TEST_P(ConnectionTest, AnswersPipelinedRequestsInOrderAroundASlowCommit) {
  start();
  slow_down("evt_5");
  RawSocket socket{address()};
  std::string all;
  for (int i = 0; i < 10; ++i) all += RequestText{numbered("evt", i)}.bytes();
  socket.send(all);
  const auto answers = socket.read_answers(10);
  ASSERT_EQ(statuses_of(answers), std::vector<int>(10, 200));
  for (int i = 0; i < 10; ++i) {
    const auto& body = answers[static_cast<std::size_t>(i)].body;
    EXPECT_NE(body.find("\"" + numbered("evt", i) + "\""), std::string::npos) << body;
  }
}

TEST_P(ConnectionTest, AnswersPipelinedRequestsByteByByte) {
  start();
  RawSocket socket{address()};
  socket.send_bytewise(RequestText{"evt_1"}.bytes() + RequestText{"evt_2"}.bytes());
  EXPECT_EQ(statuses_of(socket.read_answers(2)), (std::vector{200, 200}));
}

TEST_P(ConnectionTest, AnswersAllPipelinedRequestsOfAHalfClosedClient) {
  start();
  slow_down("evt_1");
  RawSocket socket{address()};
  socket.send(RequestText{"evt_1"}.bytes() + RequestText{"evt_2"}.bytes() +
              RequestText{"evt_3"}.bytes());
  socket.end_sending();
  EXPECT_EQ(statuses_of(socket.read_answers(3)), (std::vector{200, 200, 200}));
  EXPECT_EQ(socket.wait_for_close(), RawSocket::State::kClosed);
}

TEST_P(ConnectionTest, KeepsHeaderValuesAsTheyCame) {
  start();
  RequestText request{"evt_raw"};
  request.add("X-Raw: a%2Bb%0d%0aEvil: 1 \xc3\xa4").add("X-Empty:");
  RawSocket socket{address()};
  socket.send(request.bytes());
  ASSERT_EQ(statuses_of(socket.read_answers(1)), std::vector{200});
  const auto head = stored_head("evt_raw");
  EXPECT_NE(head.find("a%2Bb%0d%0aEvil: 1 \\303\\244"), std::string::npos) << head;
  EXPECT_NE(head.find("X-Empty: \r\n"), std::string::npos) << head;
}

TEST_P(ConnectionTest, LetsNoHeaderValueBreakOutOfItsLine) {
  start();
  RequestText request{"evt_crlf"};
  request.add("X-Raw: a%0d%0aEvil: 1");
  RawSocket socket{address()};
  socket.send(request.bytes());
  socket.read_answers(1);
  stop();
  EXPECT_EQ(database().count("hookgate.event_bodies WHERE encode(head, 'escape') ~ '^Evil'"), 0);
}

TEST_P(ConnectionTest, SaysContinueOnceTheHeadIsAccepted) {
  start();
  const auto request = expecting("evt_continue");
  RawSocket socket{address()};
  socket.send(request.head());
  const auto interim = socket.read_answer();
  ASSERT_TRUE(interim);
  EXPECT_EQ(interim->status, 100);
  socket.send(request.body);
  EXPECT_EQ(statuses_of(socket.read_answers(1)), std::vector{200});
  EXPECT_TRUE(answers_probe(socket));
}

TEST_P(ConnectionTest, SaysNoContinueToAClientThatDidNotWait) {
  start();
  RawSocket socket{address()};
  socket.send(expecting("evt_at_once").bytes());
  EXPECT_EQ(statuses_of(socket.read_answers(1)), std::vector{200});
}

TEST_P(ConnectionTest, SaysNoContinueToARefusedHead) {
  start();
  auto elsewhere = expecting("evt_1");
  elsewhere.target = "/webhooks/nothing";
  auto too_large = expecting("evt_2");
  too_large.replace("Content-Length", "Content-Length: 1000000");
  auto twice = expecting("evt_3");
  twice.add("Content-Length: 5");
  const std::vector<std::pair<std::string, int>> heads{
      {elsewhere.head(), 404}, {too_large.head(), 413}, {twice.head(), 400}};
  for (const auto& [head, status] : heads) {
    SCOPED_TRACE(status);
    RawSocket socket{address()};
    socket.send(head);
    const auto answer = socket.read_answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, status);
    EXPECT_EQ(answer->header("Content-Type"), "application/problem+json");
    EXPECT_NE(socket.wait_for_close(), RawSocket::State::kOpen);
  }
}

TEST_P(ConnectionTest, SaysNoContinueToHttp10) {
  start();
  auto request = expecting("evt_1");
  request.version = "HTTP/1.0";
  RawSocket socket{address()};
  socket.send(request.head());
  EXPECT_FALSE(socket.read_answer(milliseconds{300}));
  socket.send(request.body);
  EXPECT_EQ(statuses_of(socket.read_answers(1)), std::vector{200});
}

TEST_P(ConnectionTest, IsNotDisturbedByClientsThatResetInTheMiddle) {
  start();
  std::vector<RawSocket> others;
  for (int i = 0; i < 50; ++i) {
    others.emplace_back(address());
    const auto bytes = RequestText{numbered("evt_cut", i)}.bytes();
    others.back().send(bytes.substr(0, bytes.size() * static_cast<std::size_t>(i) / 50));
  }
  RawSocket steady{address()};
  EXPECT_TRUE(answers_probe(steady));
  for (auto& socket : others) socket.reset();
  steady.send(RequestText{"evt_steady"}.bytes());
  EXPECT_EQ(statuses_of(steady.read_answers(1)), std::vector{200});
  stop();
  EXPECT_EQ(database().count("hookgate.events"), 1);
}

TEST_P(ConnectionTest, CommitsForAClientThatLeavesBeforeItsAnswer) {
  start();
  slow_down("evt_gone");
  RawSocket socket{address()};
  socket.send(RequestText{"evt_gone"}.bytes());
  // Its answer would come behind this one's, so the request has been read.
  RawSocket other{address()};
  EXPECT_TRUE(answers_probe(other));
  socket.reset();
  stop();
  EXPECT_TRUE(is_stored("evt_gone"));
}

TEST_P(ConnectionTest, ServesManyRequestsOnOneConnection) {
  start();
  RawSocket socket{address()};
  for (int i = 0; i < 300; ++i) {
    socket.send(RequestText{numbered("evt", i)}.bytes());
    ASSERT_EQ(statuses_of(socket.read_answers(1)), std::vector{200}) << i;
  }
}

TEST_P(ConnectionTest, LetsASenderThatIsStillWritingSeeTheRefusal) {
  start();
  RequestText request{"evt_large"};
  request.replace("Content-Length", "Content-Length: 40000");
  request.body = std::string(40'000, 'x');
  RawSocket socket{address()};
  socket.send(request.head());
  for (std::size_t at = 0; at < request.body.size(); at += 1'000)
    socket.send(std::string_view{request.body}.substr(at, 1'000));
  EXPECT_EQ(statuses_of(socket.read_answers(1)), std::vector{413});
  EXPECT_EQ(socket.wait_for_close(), RawSocket::State::kClosed) << "a reset loses the answer";
}

}  // namespace
}  // namespace hookgate
