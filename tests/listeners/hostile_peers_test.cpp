#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "listener_process.h"
#include "listener_support.h"
#include "raw_socket.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
// What a peer can send behind the last byte that is read: 64 KiB that are dropped behind a refusal,
// and what the two kernels hold.
constexpr std::size_t kSlack = kMiB;
RawSocketOptions small_buffers() {
  return {.send_buffer_bytes = 16 * 1024, .receive_buffer_bytes = 16 * 1024};
}

// Deadlines short enough to wait for.
ListenerSettings impatient() {
  ListenerSettings settings;
  settings.head_timeout = milliseconds{500};
  settings.request_timeout = milliseconds{1'000};
  settings.idle_timeout = milliseconds{1'000};
  settings.write_timeout = milliseconds{500};
  return settings;
}
constexpr milliseconds kClosedWithin{
    4'000};  // the longest deadline, a refusal's 2 s, and some time

class SlowPeersTest : public ListenerTest {
 protected:
  // Sends `begin`, then a byte every 50 ms until the peer is gone; the statuses it got.
  std::vector<int> drip(const std::string& begin, const std::string& rest) {
    RawSocket socket{address()};
    socket.send(begin);
    const auto until = steady_clock::now() + kClosedWithin;
    for (std::size_t i = 0; i < rest.size() && steady_clock::now() < until; ++i) {
      socket.send(rest.substr(i, 1));
      if (socket.wait_for_close(milliseconds{50}) != RawSocket::State::kOpen) break;
    }
    EXPECT_NE(socket.state(), RawSocket::State::kOpen);
    return statuses_of(socket.read_answers(1, milliseconds{0}));
  }
};

INSTANTIATE_TEST_SUITE_P(Listener, SlowPeersTest, testing::Values(kReactor, kHttplib),
                         listener_name);

TEST_P(SlowPeersTest, SilentPeersAreClosedWithoutAWord) {
  start(impatient());
  std::vector<RawSocket> silent;
  for (int i = 0; i < 200; ++i) silent.emplace_back(address());
  RawSocket good{address()};
  EXPECT_TRUE(answers_probe(good));
  for (auto& socket : silent) {
    ASSERT_EQ(socket.wait_for_close(kClosedWithin), RawSocket::State::kClosed);
    EXPECT_TRUE(socket.read_answers(1, milliseconds{0}).empty());
  }
}

TEST_P(SlowPeersTest, IdleConnectionsAreClosedLater) {
  start(impatient());
  RawSocket socket{address()};
  EXPECT_TRUE(answers_probe(socket));
  EXPECT_EQ(socket.wait_for_close(milliseconds{600}), RawSocket::State::kOpen);
  EXPECT_EQ(socket.wait_for_close(kClosedWithin), RawSocket::State::kClosed);
}

TEST_P(SlowPeersTest, ASlowHeadIsRefused) {
  start(impatient());
  EXPECT_EQ(drip("POST /webhooks/stripe HTTP/1.1\r\nX: ", std::string(200, 'x')), std::vector{408});
}

TEST_P(SlowPeersTest, ASlowBodyIsRefused) {
  start(impatient());
  const RequestText request{"evt_slow"};
  EXPECT_EQ(drip(request.head(), request.body), std::vector{408});
  stop();
  EXPECT_FALSE(is_stored("evt_slow"));
}

TEST_P(SlowPeersTest, SlowChunksAreRefused) {
  start(impatient());
  RequestText request{"evt_slow"};
  request.chunked(in_chunks(request.body, 1));
  EXPECT_EQ(drip(request.head(), request.body), std::vector{408});
}

TEST_P(SlowPeersTest, AnAnswerThatNobodyReadsIsGivenUp) {
  start(impatient());
  RawSocket socket{address(), small_buffers()};
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += "GET /healthz HTTP/1.1\r\nHost: gateway.test\r\n\r\n";
  const auto until = steady_clock::now() + seconds{8};
  // Once the answers fill the way back, nothing is read any more; then the connection is cut.
  bool is_cut = false;
  while (!is_cut && steady_clock::now() < until)
    is_cut = socket.send(many, milliseconds{2'500}) == 0;
  EXPECT_TRUE(is_cut);
  RawSocket good{address()};
  EXPECT_TRUE(answers_probe(good));
}

TEST_P(SlowPeersTest, GoodRequestsPassSlowOnes) {
  start(impatient());
  const auto head = RequestText{"evt_slow"}.head();
  std::vector<RawSocket> slow;
  for (std::size_t i = 0; i < 200; ++i) {
    slow.emplace_back(address());
    slow.back().send(std::string_view{head}.substr(0, i % 2 == 0 ? 20 : head.size()));
  }
  RawSocket good{address()};
  for (int i = 0; i < 50; ++i) {
    const auto began = steady_clock::now();
    good.send(RequestText{"evt_good_" + std::to_string(i)}.bytes());
    ASSERT_EQ(statuses_of(good.read_answers(1)), std::vector{200});
    EXPECT_LT(steady_clock::now() - began, seconds{1});
  }
}

// The httplib listener has no cap by address.
class ManyConnectionsTest : public ListenerTest {
 protected:
  // How many of `count` connections from that address are answered.
  int answered(const std::string& local, int count) {
    std::vector<RawSocket> sockets;
    int answers = 0;
    for (int i = 0; i < count; ++i) {
      sockets.emplace_back(address(), RawSocketOptions{.local_address = local});
      if (answers_probe(sockets.back())) ++answers;
    }
    return answers;
  }
};

INSTANTIATE_TEST_SUITE_P(Listener, ManyConnectionsTest, testing::Values(kReactor), listener_name);

TEST_P(ManyConnectionsTest, OfOneAddressAreLimited) {
  ListenerSettings settings;
  settings.connections_per_address_max = 4;
  settings.trusted_proxies = {*IpNetwork::parse("127.0.0.7")};
  start(settings);
  RawSocket other{address(), {.local_address = "127.0.0.8"}};
  EXPECT_EQ(answered("127.0.0.9", 10), 4);
  EXPECT_EQ(answered("127.0.0.7", 10), 10);
  EXPECT_TRUE(answers_probe(other));
}

TEST_P(ManyConnectionsTest, PushOutTheLongestIdle) {
  ListenerSettings settings;
  settings.connections_max = 8;
  settings.connections_per_address_max = 8;
  start(settings);
  EXPECT_EQ(answered("127.0.0.9", 30), 30);
}

// A gateway of its own process, whose memory can be looked at.
class HostilePeersTest : public ListenerProcessTest {
 protected:
  static constexpr std::size_t kGrowthMax = 64 * kMiB;

  // Sends pieces until the peer has closed or `bytes_max` are out; returns how many were. The
  // statuses that came go to `statuses`.
  std::size_t flood(const std::string& begin, const std::string& piece, std::size_t bytes_max,
                    std::vector<int>& statuses) {
    RawSocket socket{address(), small_buffers()};
    std::size_t sent = socket.send(begin);
    while (sent < bytes_max) {
      const auto count = socket.send(piece);
      sent += count;
      if (count < piece.size()) break;
    }
    socket.wait_for_close();
    EXPECT_NE(socket.state(), RawSocket::State::kOpen);
    statuses = statuses_of(socket.read_answers(1, milliseconds{0}));
    return sent;
  }

  // Floods over several connections at once; each is to be refused with that status before it sent
  // much more than the limit.
  void expect_refused(const std::string& begin, const std::string& piece, std::size_t limit,
                      int status) {
    constexpr int kConnections = 10;
    constexpr std::size_t kBytesMax = 64 * kMiB;
    const auto before = memory_bytes();
    std::vector<std::thread> peers;
    for (int i = 0; i < kConnections; ++i) {
      peers.emplace_back([&] {
        std::vector<int> statuses;
        EXPECT_LT(flood(begin, piece, kBytesMax, statuses), limit + kSlack);
        EXPECT_EQ(statuses, std::vector{status});
      });
    }
    for (auto& peer : peers) peer.join();
    EXPECT_LT(peak_memory_bytes(), before + kGrowthMax);
    EXPECT_TRUE(is_well());
  }
};

INSTANTIATE_TEST_SUITE_P(Listener, HostilePeersTest, testing::Values(kReactor, kHttplib),
                         listener_name);

constexpr std::size_t kHeadLimit = 16 * kKiB;
constexpr std::size_t kBodyLimit = kMiB;

TEST_P(HostilePeersTest, ALineWithoutAnEndIsCutOff) {
  expect_refused("", std::string(64 * kKiB, 'a'), kHeadLimit, 414);
}

TEST_P(HostilePeersTest, AHeaderWithoutAnEndIsCutOff) {
  expect_refused("POST /webhooks/stripe HTTP/1.1\r\nHost: gateway.test\r\nX: ",
                 std::string(64 * kKiB, 'a'), kHeadLimit, 431);
}

TEST_P(HostilePeersTest, HeadersWithoutAnEndAreCutOff) {
  std::string headers;
  for (int i = 0; i < 10'000; ++i) headers += "X: 1\r\n";
  expect_refused("POST /webhooks/stripe HTTP/1.1\r\nHost: gateway.test\r\n", headers, kHeadLimit,
                 431);
}

TEST_P(HostilePeersTest, ChunksWithoutAnEndAreCutOff) {
  RequestText request{"evt_endless"};
  request.chunked("");
  expect_refused(request.head(), chunk(std::string(64 * kKiB, 'a')), kBodyLimit, 413);
}

TEST_P(HostilePeersTest, TinyChunksWithoutAnEndAreCutOff) {
  RequestText request{"evt_endless"};
  request.chunked("");
  std::string chunks;
  for (int i = 0; i < 10'000; ++i) chunks += "1\r\na\r\n";
  expect_refused(request.head(), chunks, 6 * kBodyLimit, 413);
}

TEST_P(HostilePeersTest, ABodyOverTheLimitIsRefusedByItsLength) {
  for (const auto* length : {"1048577", "10737418240"}) {
    RequestText request{"evt_large"};
    request.replace("Content-Length", std::string{"Content-Length: "} + length);
    RawSocket socket{address()};
    socket.send(request.head());
    EXPECT_EQ(statuses_of(socket.read_answers(1, milliseconds{2'000})), std::vector{413});
    EXPECT_NE(socket.wait_for_close(), RawSocket::State::kOpen);
  }
}

// Deflate with fixed codes: a zero, then copies of 258 zeros of 13 bits each, 158 times as many
// bytes as it has.
std::string gzip_bomb(std::size_t bytes) {
  std::string bomb{"\x1f\x8b\x08\0\0\0\0\0\0\x03", 10};
  unsigned held = 0;
  int count = 0;
  const auto put = [&](const char* bits) {
    for (; *bits != '\0'; ++bits) {
      held |= (*bits == '1' ? 1U : 0U) << count;
      if (++count < 8) continue;
      bomb += static_cast<char>(held);
      held = 0;
      count = 0;
    }
  };
  put("110");       // the last block, fixed codes
  put("00110000");  // a literal zero
  while (bomb.size() < bytes) put("1100010100000");
  return bomb;
}

TEST_P(HostilePeersTest, ABombIsNotTaken) {
  const auto before = memory_bytes();
  RequestText request{gzip_bomb(900 * kKiB), RequestText::SignedBytes{}};
  RawSocket said{address()};
  auto encoded = request;
  encoded.add("Content-Encoding: gzip");
  said.send(encoded.bytes());
  EXPECT_EQ(statuses_of(said.read_answers(1)), std::vector{415});
  EXPECT_EQ(database().count("hookgate.events"), 0);
  // Without the header these are signed bytes like any others: kept, and never taken apart.
  RawSocket unsaid{address()};
  unsaid.send(request.bytes());
  EXPECT_EQ(statuses_of(unsaid.read_answers(1)), std::vector{200});
  EXPECT_EQ(database().count("hookgate.event_bodies WHERE length(body) = " +
                             std::to_string(request.body.size())),
            1);
  EXPECT_LT(peak_memory_bytes(), before + kGrowthMax);
}

TEST_P(HostilePeersTest, UnfinishedBodiesOfManyPeersAreBounded) {
  const auto before = memory_bytes();
  RequestText request{"evt_unfinished"};
  request.replace("Content-Length", "Content-Length: " + std::to_string(kBodyLimit));
  const auto part = request.head() + std::string(kBodyLimit - 1, 'a');
  std::vector<RawSocket> peers;
  for (int i = 0; i < 400; ++i) {
    peers.emplace_back(address());
    peers.back().send(part, milliseconds{1'000});
  }
  // Together they are far over the limit by now, so the last one cannot be left waiting.
  EXPECT_EQ(statuses_of(peers.back().read_answers(1)), std::vector{503});
  EXPECT_LT(peak_memory_bytes(), before + 256 * kMiB + 128 * kMiB);
  EXPECT_TRUE(is_well());
}

}  // namespace
}  // namespace hookgate
