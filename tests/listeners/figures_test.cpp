#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "listener_process.h"
#include "raw_socket.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::size_t kBodyBytes = 3'000;
constexpr std::size_t kConnections = 64;

struct Figures {
  double per_second = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  std::size_t unanswered_connections = 0;
};

// The figures of docs/listeners.md. HOOKGATE_LISTENER_FIGURES is the time of each in seconds;
// tests/listeners/measure sets it.
class FiguresTest : public ListenerProcessTest {
 protected:
  void SetUp() override {
    const char* given = std::getenv("HOOKGATE_LISTENER_FIGURES");
    if (given == nullptr) GTEST_SKIP() << "run tests/listeners/measure for figures";
    time_ = seconds{std::atoi(given)};
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    ListenerProcessTest::SetUp();
  }

  std::string server_settings() const override {
    return GetParam() == kReactor ? "max_connections_per_address = 8000\n" : "";
  }

  // Signs what the next load sends; takes some seconds.
  void prepare();
  Figures load();
  void report(const std::string& what, const Figures& figures) const;
  std::vector<RawSocket> connect(std::size_t count, std::string_view bytes = "") const;
  // Opens those again that were closed.
  void reconnect(std::vector<RawSocket>& sockets, std::string_view bytes = "") const;

 private:
  void send_until(steady_clock::time_point end, const std::vector<std::string>& requests,
                  std::vector<double>& times_ms) const;

  seconds time_{0};
  int loads_ = 0;
  std::vector<std::vector<std::string>> requests_;  // by connection
};

INSTANTIATE_TEST_SUITE_P(Listener, FiguresTest, testing::Values(kReactor, kHttplib), listener_name);

void FiguresTest::send_until(steady_clock::time_point end, const std::vector<std::string>& requests,
                             std::vector<double>& times_ms) const {
  RawSocket socket{address()};
  for (std::size_t i = 0; steady_clock::now() < end && i < requests.size(); ++i) {
    const auto began = steady_clock::now();
    socket.send(requests[i]);
    const auto left = std::chrono::ceil<milliseconds>(end - began);
    if (statuses_of(socket.read_answers(1, left)) != std::vector{200}) return;
    times_ms.push_back(
        std::chrono::duration<double, std::milli>(steady_clock::now() - began).count());
  }
}

void FiguresTest::prepare() {
  constexpr std::size_t kPerSecondMax = 400;  // of one connection
  const auto count = kPerSecondMax * static_cast<std::size_t>(time_.count());
  ++loads_;
  requests_.assign(kConnections, {});
  for (std::size_t i = 0; i < kConnections; ++i) {
    for (std::size_t k = 0; k < count; ++k) {
      const auto event = "evt_" + std::to_string(loads_) + "_" + std::to_string(i * count + k);
      requests_[i].push_back(RequestText{event, kBodyBytes}.bytes());
    }
  }
}

// A closed loop on every connection.
Figures FiguresTest::load() {
  std::vector<std::vector<double>> times(kConnections);
  std::vector<std::thread> threads;
  const auto began = steady_clock::now();
  for (std::size_t i = 0; i < kConnections; ++i)
    threads.emplace_back([&, i] { send_until(began + time_, requests_[i], times[i]); });
  for (auto& thread : threads) thread.join();
  const std::chrono::duration<double> took = steady_clock::now() - began;
  Figures figures;
  std::vector<double> all;
  for (const auto& some : times) {
    if (some.empty()) ++figures.unanswered_connections;
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all);
  figures.per_second = static_cast<double>(all.size()) / took.count();
  if (!all.empty()) {
    figures.p50_ms = all[all.size() / 2];
    figures.p99_ms = all[all.size() * 99 / 100];
  }
  return figures;
}

void FiguresTest::report(const std::string& what, const Figures& figures) const {
  std::cout << "FIGURE | " << GetParam() << " | " << what << " | " << figures.per_second
            << " events/s | p50 " << figures.p50_ms << " ms | p99 " << figures.p99_ms << " ms | "
            << figures.unanswered_connections << " of " << kConnections << " without an answer | "
            << peak_memory_bytes() / 1024 / 1024 << " MiB at most\n";
}

std::vector<RawSocket> FiguresTest::connect(std::size_t count, std::string_view bytes) const {
  std::vector<RawSocket> sockets;
  for (std::size_t i = 0; i < count; ++i) {
    sockets.emplace_back(address());
    sockets.back().send(bytes);
  }
  return sockets;
}

void FiguresTest::reconnect(std::vector<RawSocket>& sockets, std::string_view bytes) const {
  for (auto& socket : sockets) {
    if (socket.wait_for_close(milliseconds{0}) == RawSocket::State::kOpen) continue;
    socket = RawSocket{address()};
    socket.send(bytes);
  }
}

TEST_P(FiguresTest, Alone) {
  prepare();
  load();  // warms up
  prepare();
  report("nothing", load());
}

TEST_P(FiguresTest, BesideIdleConnections) {
  prepare();
  auto idle = connect(900, "GET /healthz HTTP/1.1\r\nHost: gateway.test\r\n\r\n");
  for (auto& socket : idle) socket.read_answers(1);
  report("900 idle", load());
}

TEST_P(FiguresTest, BesideSilentPeers) {
  prepare();
  auto silent = connect(2'000);
  std::jthread keeper{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      reconnect(silent);
      std::this_thread::sleep_for(milliseconds{20});
    }
  }};
  report("2,000 silent", load());
}

TEST_P(FiguresTest, BesideSlowSenders) {
  prepare();
  const auto bytes = RequestText{"evt_slow", kBodyBytes}.bytes();
  auto slow = connect(500, bytes.substr(0, 10));
  std::jthread drip{[&](const std::stop_token& stop) {
    for (std::size_t at = 10; !stop.stop_requested(); ++at) {
      reconnect(slow, bytes.substr(0, 10));
      for (auto& socket : slow) socket.send(bytes.substr(at, 1));
      for (int i = 0; i < 10 && !stop.stop_requested(); ++i)
        std::this_thread::sleep_for(milliseconds{100});
    }
  }};
  report("500 slow senders", load());
}

}  // namespace
}  // namespace hookgate
