#include "ingest/request_workers.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hookgate {
namespace {

using testing::ElementsAre;

RequestJob job(std::uint64_t connection, std::size_t body_bytes = 1) {
  RequestJob made;
  made.connection = connection;
  made.request.body.assign(body_bytes, 'a');
  return made;
}

// One worker that stays at its first job until it is let go, and notes the order of all.
class HeldWorker {
 public:
  explicit HeldWorker(RequestWorkers::Limits limits)
      : workers_(1, limits, [this](const RequestJob& taken) {
          order_.push_back(taken.connection);
          if (order_.size() > 1) return;
          began_.set_value();
          go_on_.get_future().wait();
        }) {
    workers_.start();
    push(job(0));
    began_.get_future().wait();
  }

  bool push(RequestJob one) {
    if (!workers_.reserve(one.request.body.size())) return false;
    std::vector<RequestJob> jobs;
    jobs.push_back(std::move(one));
    workers_.push(jobs);
    return true;
  }
  std::vector<std::uint64_t> finish() {
    go_on_.set_value();
    workers_.stop();
    return order_;
  }

 private:
  std::promise<void> began_;
  std::promise<void> go_on_;
  std::vector<std::uint64_t> order_;  // of the worker's thread until it has ended
  RequestWorkers workers_;
};

TEST(RequestWorkers, FinishWhatWaitsBeforeTheyStop) {
  HeldWorker worker{{.requests_max = 100, .bytes_max = 1'000}};
  for (std::uint64_t i = 1; i <= 20; ++i) EXPECT_TRUE(worker.push(job(i)));
  const auto order = worker.finish();
  ASSERT_EQ(order.size(), 21U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST(RequestWorkers, TakeNoMoreThanTheirLimits) {
  HeldWorker worker{{.requests_max = 3, .bytes_max = 1'000}};
  EXPECT_TRUE(worker.push(job(1, 900)));
  EXPECT_FALSE(worker.push(job(2, 101)));
  EXPECT_TRUE(worker.push(job(3, 100)));
  EXPECT_TRUE(worker.push(job(4, 0)));
  EXPECT_FALSE(worker.push(job(5, 0)));
  EXPECT_THAT(worker.finish(), ElementsAre(0, 1, 3, 4));
}

TEST(RequestWorkers, LetLargeBodiesNeitherCrowdOutNorHoldUpTheUsualOnes) {
  constexpr auto kLarge = RequestWorkers::kLargeBytes;
  HeldWorker worker{{.requests_max = 100, .bytes_max = 8 * kLarge}};
  for (std::uint64_t i = 1; i <= 6; ++i) EXPECT_TRUE(worker.push(job(i, kLarge)));
  EXPECT_FALSE(worker.push(job(7, kLarge)));
  for (std::uint64_t i = 11; i <= 19; ++i) EXPECT_TRUE(worker.push(job(i)));
  const auto order = worker.finish();
  ASSERT_EQ(order.size(), 16U);
  const auto last_usual = std::ranges::find(order, 19U);
  const auto third_large = std::ranges::find(order, 3U);
  EXPECT_LT(last_usual, third_large);
}

}  // namespace
}  // namespace hookgate
