#include <memory>

#include <gtest/gtest.h>

#include "memory_event_queue.h"
#include "store/event_control.h"
#include "store/pooled_event_queue.h"
#include "test_database.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;

// A queue with what these tests ask of it besides.
class TestedQueue {
 public:
  virtual ~TestedQueue() = default;
  virtual EventQueue& queue() = 0;
  virtual void have(std::int64_t id, const std::string& source) = 0;
  virtual void pass(milliseconds time) = 0;
  virtual bool retry(std::int64_t id) = 0;
  virtual bool discard(std::int64_t id) = 0;
  // "status attempts/failures/crashes finished"
  virtual std::string row(std::int64_t id) = 0;
  virtual std::string bad_statement() = 0;
};

class PostgresQueue final : public TestedQueue {
 public:
  PostgresQueue() {
    PoolSettings settings;
    settings.url = database_.url();
    pool_ = std::make_unique<ConnectionPool>(settings);
    queue_ = std::make_unique<PooledEventQueue>(*pool_, *pool_);
  }
  EventQueue& queue() override { return *queue_; }
  void have(std::int64_t id, const std::string& source) override {
    const auto number = std::to_string(id);
    database_.execute(
        "INSERT INTO hookgate.events (id, received_at, last_seen_at, source, scope, event_id, "
        "event_type, subject, content, signed_content) VALUES (" +
        number + ", now(), now(), '" + source + "', '', 'e" + number + "', 't', 's', '', '')");
  }
  void pass(milliseconds time) override {
    database_.execute("UPDATE hookgate.events SET due_at = due_at - interval '" +
                      std::to_string(time.count()) + " ms'");
  }
  bool retry(std::int64_t id) override {
    auto lease = pool_->acquire();
    return retry_events(*lease, {{std::to_string(id)}, {}}, {}).events == 1;
  }
  bool discard(std::int64_t id) override {
    auto lease = pool_->acquire();
    return discard_events(*lease, {{std::to_string(id)}, {}}, false).events == 1;
  }
  std::string row(std::int64_t id) override {
    return database_.value(
        "SELECT status || ' ' || attempts || '/' || failures || '/' || crashes || ' ' || finished "
        "FROM hookgate.events WHERE id = " +
        std::to_string(id));
  }
  std::string bad_statement() override { return "SELECT 1 / 0"; }

 private:
  TestDatabase database_;
  std::unique_ptr<ConnectionPool> pool_;
  std::unique_ptr<PooledEventQueue> queue_;
};

class MemoryQueue final : public TestedQueue {
 public:
  EventQueue& queue() override { return queue_; }
  void have(std::int64_t id, const std::string& source) override {
    MemoryEvent event;
    event.id = id;
    event.source = source;
    event.due_at = queue_.now;
    queue_.events[id] = event;
  }
  void pass(milliseconds time) override { queue_.now += time; }
  bool retry(std::int64_t id) override { return queue_.retry(id); }
  bool discard(std::int64_t id) override { return queue_.discard(id); }
  std::string row(std::int64_t id) override {
    const auto& event = queue_.events.at(id);
    return event.status + " " + std::to_string(event.attempts) + "/" +
           std::to_string(event.failures) + "/" + std::to_string(event.crashes) + " " +
           event.finished;
  }
  std::string bad_statement() override { return "22012"; }

 private:
  std::mt19937_64 random_{1};
  MemoryEventQueue queue_{random_, {}};
};

// The queue that the simulation runs on keeps the rules of the one in PostgreSQL.
class QueueRulesTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      HOOKGATE_REQUIRE_DATABASE();
      tested_ = std::make_unique<PostgresQueue>();
    } else {
      tested_ = std::make_unique<MemoryQueue>();
    }
    options_.sources = sources_;
    options_.lease = milliseconds{60'000};
  }

  TestedQueue& tested() { return *tested_; }
  EventQueue& queue() { return tested_->queue(); }
  std::vector<ClaimedEvent> claim() { return queue().claim(options_); }
  std::vector<ClaimedEvent> claim_expired() { return queue().claim_expired(options_); }

  // Rows that carried the token.
  std::size_t finish(const ClaimedEvent& claimed, FinishedEvent::Status status,
                     const std::string& finished, bool commit = true) {
    std::size_t rows = 0;
    queue().transact([&](EventTransaction& transaction) {
      FinishedEvent event;
      event.id = claimed.event.id;
      event.status = status;
      event.finished = finished;
      event.failed = status == FinishedEvent::Status::kRetry;
      event.retry_after = milliseconds{5'000};
      rows = transaction.finish(claimed.token, std::vector{event});
      if (commit) transaction.commit();
    });
    return rows;
  }

  ClaimOptions options_;

 private:
  const std::vector<std::string> sources_{"a", "b"};
  std::unique_ptr<TestedQueue> tested_;
};

using Status = FinishedEvent::Status;

TEST_P(QueueRulesTest, AClaimHoldsUntilItsLeaseEndsAndThenCountsAsACrash) {
  tested().have(1, "a");
  EXPECT_EQ(claim().size(), 1U);
  EXPECT_EQ(claim().size() + claim_expired().size(), 0U);
  tested().pass(milliseconds{61'000});
  EXPECT_EQ(claim().size(), 0U);
  EXPECT_EQ(claim_expired().at(0).crashes, 1);
  EXPECT_EQ(tested().row(1), "pending 2/0/1 ");
}

TEST_P(QueueRulesTest, ExpiredOnesAreTakenOneByOne) {
  tested().have(1, "a");
  tested().have(2, "b");
  claim();
  tested().pass(milliseconds{61'000});
  EXPECT_EQ(claim_expired().size(), 1U);
}

TEST_P(QueueRulesTest, OnlyTheLatestTokenFinishesAndOnlyOnce) {
  tested().have(1, "a");
  const auto late = claim().at(0);
  tested().pass(milliseconds{61'000});
  const auto latest = claim_expired().at(0);
  EXPECT_EQ(finish(late, Status::kDone, "late"), 0U);
  EXPECT_TRUE(queue().renew(late.token, std::vector{late.event.id}, milliseconds{1}).empty());
  EXPECT_EQ(queue().renew(latest.token, std::vector{latest.event.id}, milliseconds{60'000}).size(),
            1U);
  EXPECT_EQ(finish(latest, Status::kDone, "latest"), 1U);
  EXPECT_EQ(finish(latest, Status::kDone, "again"), 0U);
  EXPECT_EQ(tested().row(1), "done 2/0/1 latest");
}

TEST_P(QueueRulesTest, WhatIsNotCommittedLeavesNoTrace) {
  tested().have(1, "a");
  const auto claimed = claim().at(0);
  EXPECT_EQ(finish(claimed, Status::kDone, "h", false), 1U);
  EXPECT_EQ(tested().row(1), "pending 1/0/0 ");
  EXPECT_EQ(finish(claimed, Status::kDone, "h"), 1U);
}

TEST_P(QueueRulesTest, ARetryIsDueWhenItsTimeHasCome) {
  tested().have(1, "a");
  finish(claim().at(0), Status::kRetry, "h");
  EXPECT_EQ(claim().size(), 0U);
  tested().pass(milliseconds{5'001});
  EXPECT_EQ(claim().at(0).failures, 1);
  EXPECT_EQ(tested().row(1), "pending 2/1/0 h");
}

TEST_P(QueueRulesTest, AClaimPassesOverRowsThatAreLocked) {
  tested().have(1, "a");
  const auto claimed = claim().at(0);
  tested().pass(milliseconds{61'000});
  queue().transact([&](EventTransaction& transaction) {
    FinishedEvent event;
    event.id = 1;
    EXPECT_EQ(transaction.finish(claimed.token, std::vector{event}), 1U);
    EXPECT_EQ(claim_expired().size(), 0U);
  });
  EXPECT_EQ(claim_expired().size(), 1U);
}

TEST_P(QueueRulesTest, EachSourceHasItsShareAndTheRestGoesToWhoHasMore) {
  for (std::int64_t id = 1; id <= 9; ++id) tested().have(id, "a");
  tested().have(10, "b");
  options_.events_max = 4;
  int of_b = 0;
  const auto claimed = claim();
  for (const auto& one : claimed) of_b += one.event.source == "b" ? 1 : 0;
  EXPECT_EQ(claimed.size(), 4U);
  EXPECT_EQ(of_b, 1);
}

TEST_P(QueueRulesTest, AFailedStatementSpoilsTheTransactionUntilItsSavepoint) {
  tested().have(1, "a");
  const auto claimed = claim().at(0);
  const std::vector events{FinishedEvent{.id = 1, .finished = "", .last_error = ""}};
  EXPECT_THROW(queue().transact([&](EventTransaction& transaction) {
    EXPECT_THROW(transaction.sql().execute(tested().bad_statement()), SqlError);
    transaction.finish(claimed.token, events);
  }),
               SqlError);
  queue().transact([&](EventTransaction& transaction) {
    transaction.savepoint();
    EXPECT_THROW(transaction.sql().execute(tested().bad_statement()), SqlError);
    transaction.rollback_to_savepoint();
    EXPECT_EQ(transaction.finish(claimed.token, events), 1U);
    transaction.commit();
  });
  EXPECT_EQ(tested().row(1), "done 1/0/0 ");
}

TEST_P(QueueRulesTest, AnOperatorMayRetryAndDiscardByTheSameRules) {
  tested().have(1, "a");
  const auto claimed = claim().at(0);
  EXPECT_FALSE(tested().retry(1));
  EXPECT_TRUE(tested().discard(1));
  EXPECT_EQ(finish(claimed, Status::kDone, "h"), 0U);
  EXPECT_FALSE(tested().discard(1));
  EXPECT_TRUE(tested().retry(1));
  EXPECT_EQ(finish(claim().at(0), Status::kDead, "g!,h,i?"), 1U);
  EXPECT_TRUE(tested().retry(1));
  EXPECT_EQ(tested().row(1), "pending 2/0/0 h,i?");
  EXPECT_TRUE(tested().retry(1));
  EXPECT_EQ(finish(claim().at(0), Status::kDone, "h"), 1U);
  EXPECT_FALSE(tested().retry(1) || tested().discard(1));
}

INSTANTIATE_TEST_SUITE_P(Both, QueueRulesTest, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Postgres" : "Memory"; });

}  // namespace
}  // namespace hookgate
