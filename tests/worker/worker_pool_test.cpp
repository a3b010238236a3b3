#include "worker/worker_pool.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

WorkerPoolSettings settings(int threads) {
  WorkerPoolSettings settings;
  settings.threads = threads;
  settings.poll_interval = hours{1};  // so that only a wake-up can start a run
  settings.pause_when_away = milliseconds{1};
  return settings;
}

TEST(WorkerPoolTest, StopsBeforeStartAndTwice) {
  WorkerPool pool{[] { return std::size_t{0}; }, settings(2)};
  pool.stop();
  pool.start();
  pool.stop();
  pool.stop();
}

TEST(WorkerPoolTest, RunsAtOnceWhenWoken) {
  std::atomic<bool> stored = false;
  std::promise<void> ran;
  std::promise<void> idle;
  std::atomic<int> looks = 0;
  WorkerPool pool{[&]() -> std::size_t {
                    if (stored.exchange(false)) {
                      ran.set_value();
                      return 1;
                    }
                    if (++looks == 1) idle.set_value();
                    return 0;
                  },
                  settings(1)};
  pool.start();
  idle.get_future().wait();
  stored = true;
  pool.wake();
  EXPECT_EQ(ran.get_future().wait_for(seconds{10}), std::future_status::ready);
}

TEST(WorkerPoolTest, LosesNoWakeUpThatComesWhileItLooks) {
  constexpr int kRounds = 2'000;
  std::atomic<int> waiting = 0;
  std::atomic<int> done = 0;
  WorkerPool pool{[&]() -> std::size_t {
                    int seen = waiting.load();
                    while (seen > 0 && !waiting.compare_exchange_weak(seen, seen - 1)) {
                    }
                    if (seen <= 0) return 0;
                    ++done;
                    return 1;
                  },
                  settings(3)};
  pool.start();
  for (int i = 1; i <= kRounds; ++i) {
    ++waiting;
    pool.wake();
    const auto deadline = std::chrono::steady_clock::now() + seconds{10};
    while (done < i && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    ASSERT_EQ(done, i);
  }
}

TEST(WorkerPoolTest, GoesOnAfterAnError) {
  std::atomic<int> calls = 0;
  std::promise<void> recovered;
  WorkerPool pool{[&]() -> std::size_t {
                    const int call = ++calls;
                    if (call < 3) throw std::runtime_error("database away");
                    if (call == 3) recovered.set_value();
                    return 0;
                  },
                  settings(1)};
  pool.start();
  EXPECT_EQ(recovered.get_future().wait_for(seconds{10}), std::future_status::ready);
}

}  // namespace
}  // namespace hookgate
