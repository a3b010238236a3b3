#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/listener.h"
#include "listener_test_support.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class ReactorListenerTest : public testing::Test {
 protected:
  void start(const std::function<void(ListenerSettings&)>& change = {}) {
    ListenerSettings settings;
    settings.host = "127.0.0.1";
    settings.shutdown_grace = milliseconds{3'000};
    if (change) change(settings);
    listener_ = make_reactor_listener(settings, probes_.receiver());
    listener_->start();
  }
  std::string address() const { return listener_->address(); }
  Listener& listener() { return *listener_; }
  Receiver& receiver() { return probes_.receiver(); }

  // Whether a probe on a connection of its own is answered.
  bool answers() const {
    TestSocket socket{address()};
    socket.send(kProbe);
    return !socket.read_until(kProbeAnswerEnd).empty();
  }

 private:
  ProbesOnly probes_;
  std::unique_ptr<Listener> listener_;
};

milliseconds since(steady_clock::time_point began) {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
}

TEST_F(ReactorListenerTest, AnswersOverIpv4Ipv6AndAUnixSocket) {
  start();
  EXPECT_THAT(address(), StartsWith("127.0.0.1:"));
  EXPECT_TRUE(answers());

  start([](ListenerSettings& settings) { settings.host = "::1"; });
  EXPECT_THAT(address(), StartsWith("[::1]:"));
  EXPECT_TRUE(answers());

  const auto path = testing::TempDir() + "hookgate-" + std::to_string(::getpid()) + ".sock";
  start([&](ListenerSettings& settings) {
    settings.host = path;
    settings.port = ListenerSettings::kUnixSocket;
  });
  EXPECT_EQ(address(), "unix:" + path);
  EXPECT_TRUE(answers());
  listener().stop();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ReactorListenerTest, TakesThePlaceOfAUnixSocketThatNobodyListensOn) {
  const auto path = testing::TempDir() + "hookgate-old-" + std::to_string(::getpid()) + ".sock";
  const auto use_path = [&](ListenerSettings& settings) {
    settings.host = path;
    settings.port = ListenerSettings::kUnixSocket;
  };
  {
    ListeningSocket killed;
    killed.open_unix(path);
    // As after a kill: the file stays, nobody listens.
    const auto kept = path + ".kept";
    std::filesystem::rename(path, kept);
    killed.close();
    std::filesystem::rename(kept, path);
  }
  start(use_path);
  EXPECT_TRUE(answers());

  ListeningSocket second;
  EXPECT_THROW(second.open_unix(path), ListenError);
  const auto file = path + ".txt";
  std::ofstream{file} << "mine";
  EXPECT_THROW(second.open_unix(file), ListenError);
  EXPECT_TRUE(std::filesystem::exists(file));
  std::filesystem::remove(file);
}

TEST_F(ReactorListenerTest, SaysWhyItCannotListen) {
  start();
  ListenerSettings settings;
  settings.host = "127.0.0.1";
  settings.port = std::stoi(address().substr(address().rfind(':') + 1));
  try {
    make_reactor_listener(settings, receiver())->start();
    FAIL() << "two listeners on one port";
  } catch (const ListenError& error) {
    EXPECT_EQ(std::string{error.what()},
              "cannot listen on " + address() + ": Address already in use");
  }
}

TEST_F(ReactorListenerTest, AnswersPipelinedRequestsInOrder) {
  start();
  TestSocket socket{address()};
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += kProbe;
    requests += "GET /none HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  socket.send(requests);
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(socket.read_until(kProbeAnswerEnd), StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(socket.read_until("404}"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  }
}

TEST_F(ReactorListenerTest, AnswersAPeerThatHasEndedItsSending) {
  start();
  TestSocket socket{address()};
  socket.send(kProbe);
  socket.end_sending();
  bool closed = false;
  EXPECT_THAT(socket.read_all(closed), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(closed);
}

TEST_F(ReactorListenerTest, EndsASlowHeadByATotalDeadline) {
  start([](ListenerSettings& settings) { settings.head_timeout = milliseconds{300}; });
  TestSocket socket{address()};
  const auto began = steady_clock::now();
  std::string answer;
  for (int i = 0; i < 40 && answer.empty(); ++i) {
    socket.send("G");
    answer = socket.read_until("HTTP/1.1 408", 50);
  }
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 408"));
  EXPECT_LT(since(began), milliseconds{1'500});
  bool closed = false;
  socket.read_all(closed);
  EXPECT_TRUE(closed);
}

TEST_F(ReactorListenerTest, ClosesSilentConnectionsInTime) {
  start([](ListenerSettings& settings) {
    settings.request_timeout = milliseconds{200};
    settings.idle_timeout = milliseconds{900};
  });
  TestSocket silent{address()};
  TestSocket kept{address()};
  kept.send(kProbe);
  kept.read_until(kProbeAnswerEnd);
  const auto began = steady_clock::now();
  bool closed = false;
  EXPECT_THAT(silent.read_all(closed, 2'000), IsEmpty());
  EXPECT_TRUE(closed);
  EXPECT_LT(since(began), milliseconds{800});
  EXPECT_THAT(kept.read_all(closed, 3'000), IsEmpty());
  EXPECT_TRUE(closed);
  EXPECT_GT(since(began), milliseconds{700});
}

TEST_F(ReactorListenerTest, MakesRoomAtTheLimitByClosingTheLongestIdleConnection) {
  start([](ListenerSettings& settings) {
    settings.connections_max = 2;
    settings.connections_per_address_max = 100;
  });
  TestSocket first{address()};
  first.send(kProbe);
  EXPECT_FALSE(first.read_until(kProbeAnswerEnd).empty());
  TestSocket second{address()};
  second.send(kProbe);
  EXPECT_FALSE(second.read_until(kProbeAnswerEnd).empty());
  EXPECT_TRUE(answers());
  bool closed = false;
  first.read_all(closed);
  EXPECT_TRUE(closed);
}

TEST_F(ReactorListenerTest, TurnsPeersAwayWhenAllConnectionsAreBusy) {
  start([](ListenerSettings& settings) {
    settings.connections_max = 2;
    settings.connections_per_address_max = 100;
  });
  TestSocket first{address()};
  TestSocket second{address()};
  for (auto* busy : {&first, &second}) {
    busy->send(kProbe);
    EXPECT_FALSE(busy->read_until(kProbeAnswerEnd).empty());
    busy->send("GET /healthz HTTP/1.1\r\n");
  }
  TestSocket third{address()};
  third.send(kProbe);
  bool closed = false;
  EXPECT_THAT(third.read_all(closed), HasSubstr("503"));
  EXPECT_TRUE(closed);
  first.send("Host: a\r\n\r\n");
  EXPECT_FALSE(first.read_until(kProbeAnswerEnd).empty());
}

TEST_F(ReactorListenerTest, BoundsTheConnectionsOfOneAddressButNotOfATrustedProxy) {
  const auto use_limit = [](ListenerSettings& settings) {
    settings.connections_per_address_max = 1;
  };
  start(use_limit);
  TestSocket first{address()};
  first.send(kProbe);
  EXPECT_FALSE(first.read_until(kProbeAnswerEnd).empty());
  TestSocket second{address()};
  second.send(kProbe);
  bool closed = false;
  EXPECT_THAT(second.read_all(closed), HasSubstr("503"));

  start([&](ListenerSettings& settings) {
    use_limit(settings);
    settings.trusted_proxies.push_back(*IpNetwork::parse("127.0.0.0/8"));
  });
  TestSocket third{address()};
  third.send(kProbe);
  EXPECT_FALSE(third.read_until(kProbeAnswerEnd).empty());
  EXPECT_TRUE(answers());
}

TEST_F(ReactorListenerTest, FinishesARequestWhoseHeadWasAcceptedBeforeItStops) {
  start();
  TestSocket idle{address()};
  idle.send(kProbe);
  idle.read_until(kProbeAnswerEnd);
  TestSocket under_way{address()};
  under_way.send("GET /healthz HTTP/1.1\r\nHost: a\r\n");
  EXPECT_TRUE(answers());  // by now the other bytes were read too
  std::thread stopping{[this] { listener().stop(); }};
  bool closed = false;
  EXPECT_THAT(idle.read_all(closed), IsEmpty());
  EXPECT_TRUE(closed);
  under_way.send("\r\n");
  const auto answer = under_way.read_all(closed);
  EXPECT_THAT(answer, HasSubstr(kProbeAnswerEnd));
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
  EXPECT_TRUE(closed);
  stopping.join();
  EXPECT_FALSE(TestSocket{address()}.is_connected());
}

TEST_F(ReactorListenerTest, StopsWithinItsGrace) {
  start([](ListenerSettings& settings) { settings.shutdown_grace = milliseconds{300}; });
  TestSocket never_done{address()};
  never_done.send("GET /healthz HTTP/1.1\r\n");
  EXPECT_TRUE(answers());
  const auto began = steady_clock::now();
  listener().stop();
  EXPECT_LT(since(began), milliseconds{1'500});
}

TEST_F(ReactorListenerTest, ReadsNoFurtherOnceARequestIsRefused) {
  start();
  TestSocket socket{address()};
  socket.send("GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n");
  socket.send(kProbe);
  bool closed = false;
  const auto answer = socket.read_all(closed);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos);
  EXPECT_TRUE(closed);
}

}  // namespace
}  // namespace hookgate
