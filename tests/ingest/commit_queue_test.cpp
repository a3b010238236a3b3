#include "ingest/commit_queue.h"

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "test_database.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Delivery a_delivery(const std::string& id, const std::string& body = "{}") {
  auto request = std::make_shared<Delivery::Request>();
  request->source = "stripe";
  request->body = body;
  request->received_at = system_now();
  Delivery delivery;
  delivery.request = request;
  delivery.event.event_id = id;
  return delivery;
}

template <typename Value>
CommitQueueSettings settings_with(Value CommitQueueSettings::*member, Value value) {
  CommitQueueSettings settings;
  settings.*member = value;
  return settings;
}

class CommitQueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    HOOKGATE_REQUIRE_DATABASE();
    database_ = std::make_unique<TestDatabase>();
  }
  CommitQueue& queue(CommitQueueSettings settings = {}, const Secret& url = Secret{}) {
    PoolSettings pool;
    pool.url = url.empty() ? database_->url() : url;
    pool_ = std::make_unique<ConnectionPool>(pool);
    queue_ = std::make_unique<CommitQueue>(*pool_, settings, [this] { ++stored_; });
    return *queue_;
  }
  std::future<CommitResult> submit(const std::vector<Delivery>& deliveries) {
    auto promise = std::make_shared<std::promise<CommitResult>>();
    auto result = promise->get_future();
    if (!queue_->submit(deliveries,
                        [promise](CommitResult given) { promise->set_value(std::move(given)); })) {
      promise->set_value(std::nullopt);
    }
    return result;
  }
  TestDatabase& database() { return *database_; }

  std::atomic<int> stored_ = 0;

 private:
  std::unique_ptr<TestDatabase> database_;
  std::unique_ptr<ConnectionPool> pool_;
  std::unique_ptr<CommitQueue> queue_;
};

TEST_F(CommitQueueTest, TellsEachRequestWhatBecameOfItsOwnEvents) {
  queue().start();
  const auto first = submit({a_delivery("evt_1"), a_delivery("evt_2")}).get();
  const auto second = submit({a_delivery("evt_2"), a_delivery("evt_3")}).get();
  EXPECT_EQ(first, (std::vector{StoreResult::kAccepted, StoreResult::kAccepted}));
  EXPECT_EQ(second, (std::vector{StoreResult::kDuplicate, StoreResult::kAccepted}));
}

TEST_F(CommitQueueTest, HasCommittedBeforeItTells) {
  queue().start();
  submit({a_delivery("evt_1")}).get();
  EXPECT_EQ(database().count("hookgate.events WHERE event_id = 'evt_1'"), 1);
}

TEST_F(CommitQueueTest, WakesTheWorkersOnlyForNewEvents) {
  auto& running = queue();
  running.start();
  submit({a_delivery("evt_1")}).get();
  submit({a_delivery("evt_1")}).get();
  running.stop();
  EXPECT_EQ(stored_, 1);
}

TEST_F(CommitQueueTest, WritesWhatWaitsAsOneBatch) {
  auto& waiting = queue(settings_with(&CommitQueueSettings::writers, 1));
  std::vector<std::future<CommitResult>> results;
  results.reserve(100);
  for (int i = 0; i < 100; ++i) results.push_back(submit({a_delivery("evt_" + std::to_string(i))}));
  waiting.start();
  for (auto& result : results) EXPECT_EQ(result.get(), std::vector{StoreResult::kAccepted});
  EXPECT_EQ(database().value("SELECT count(DISTINCT xmin::text) FROM hookgate.events"), "1");
}

TEST_F(CommitQueueTest, WritesABurstAsOneBatch) {
  auto& writing = queue(settings_with(&CommitQueueSettings::writers, 1));
  writing.start();
  submit({a_delivery("evt_0")}).get();
  std::this_thread::sleep_for(milliseconds{20});  // by now the writer waits for more
  std::vector<std::future<CommitResult>> results;
  {
    const CommitQueue::Burst burst{writing};
    for (int i = 1; i <= 4; ++i) {
      results.push_back(submit({a_delivery("evt_" + std::to_string(i))}));
      std::this_thread::sleep_for(milliseconds{5});
    }
  }
  for (auto& result : results) EXPECT_EQ(result.get(), std::vector{StoreResult::kAccepted});
  EXPECT_EQ(database().value("SELECT count(DISTINCT xmin::text) FROM hookgate.events"), "2");
}

TEST_F(CommitQueueTest, RefusesMoreRequestsThanItsLimit) {
  queue(settings_with(&CommitQueueSettings::requests_max, std::size_t{2}));
  submit({a_delivery("evt_1")});
  submit({a_delivery("evt_2")});
  EXPECT_EQ(submit({a_delivery("evt_3")}).get(), std::nullopt);
}

TEST_F(CommitQueueTest, RefusesMoreBytesThanItsLimit) {
  queue(settings_with(&CommitQueueSettings::bytes_max, std::size_t{100}));
  submit({a_delivery("evt_1", std::string(60, 'x'))});
  EXPECT_EQ(submit({a_delivery("evt_2", std::string(60, 'x'))}).get(), std::nullopt);
}

TEST_F(CommitQueueTest, FinishesWhatWasSubmittedWhenItStops) {
  auto& stopping = queue();
  auto result = submit({a_delivery("evt_1")});
  stopping.start();
  stopping.stop();
  EXPECT_EQ(result.get(), std::vector{StoreResult::kAccepted});
  EXPECT_EQ(submit({a_delivery("evt_2")}).get(), std::nullopt);
}

// Law 3: when nothing is known of the commit the request must not be told anything good.
TEST_F(CommitQueueTest, SaysNothingGoodWhenTheDatabaseIsAway) {
  queue({}, Secret{"postgresql://127.0.0.1:1/nowhere"}).start();
  auto result = submit({a_delivery("evt_1")});
  ASSERT_EQ(result.wait_for(seconds{10}), std::future_status::ready);
  EXPECT_EQ(result.get(), std::nullopt);
}

}  // namespace
}  // namespace hookgate
