#include "ingest/elastic_thread_pool.h"

#include <atomic>
#include <future>
#include <memory>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

TEST(ElasticThreadPoolTest, StartsAThreadForWorkThatWouldWait) {
  ElasticThreadPool pool{3};
  std::atomic<int> running = 0;
  std::promise<void> all_run;
  std::promise<void> go;
  const auto may_go = go.get_future().share();
  for (int i = 0; i < 3; ++i) {
    pool.enqueue([&] {
      if (++running == 3) all_run.set_value();
      may_go.wait();
    });
  }
  EXPECT_EQ(all_run.get_future().wait_for(std::chrono::seconds{10}), std::future_status::ready);
  go.set_value();
  pool.shutdown();
}

TEST(ElasticThreadPoolTest, RunsNoMoreAtOnceThanItsLimit) {
  ElasticThreadPool pool{2};
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  for (int i = 0; i < 200; ++i) {
    pool.enqueue([&] {
      const int now = ++running;
      int seen = most;
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      std::this_thread::yield();
      --running;
    });
  }
  pool.shutdown();
  EXPECT_LE(most, 2);
}

TEST(ElasticThreadPoolTest, RunsWhatWaitsBeforeItShutsDown) {
  std::atomic<int> ran = 0;
  ElasticThreadPool pool{1};
  for (int i = 0; i < 50; ++i) pool.enqueue([&] { ++ran; });
  pool.shutdown();
  pool.shutdown();
  EXPECT_EQ(ran, 50);
}

}  // namespace
}  // namespace hookgate
