#include "store/event_store.h"

#include <algorithm>
#include <thread>

#include <pqxx/pqxx>

#include "store_test_support.h"

namespace hookgate {
namespace {

using std::string_literals::operator""s;

class EventStoreTest : public StoreTest {};

TEST_F(EventStoreTest, KeepsOneRowWhenTheSameEventArrivesTwice) {
  EXPECT_EQ(record_one(a_delivery("evt_1")), StoreResult::kAccepted);
  EXPECT_EQ(record_one(a_delivery("evt_1")), StoreResult::kDuplicate);
  EXPECT_EQ(database().count("hookgate.events"), 1);
  EXPECT_EQ(database().value("SELECT deliveries FROM hookgate.events"), "2");
}

TEST_F(EventStoreTest, AcceptsOneOfTheCopiesInsideOneBatch) {
  const auto results =
      record({a_delivery("evt_1"), a_delivery("evt_1"), a_delivery("evt_2"), a_delivery("evt_1")});
  EXPECT_EQ(std::ranges::count(results, StoreResult::kAccepted), 2);
  EXPECT_EQ(std::ranges::count(results, StoreResult::kDuplicate), 2);
  EXPECT_EQ(database().value("SELECT deliveries FROM hookgate.events WHERE event_id = 'evt_1'"),
            "3");
}

TEST_F(EventStoreTest, TellsSourcesAndScopesApart) {
  auto other_scope = a_delivery("evt_1");
  other_scope.event.scope = "acct_2";
  auto other_source = a_delivery("evt_1");
  auto request = *other_source.request;
  request.source = "stripe_b";
  other_source.request = std::make_shared<Delivery::Request>(request);
  const auto results = record({a_delivery("evt_1"), other_scope, other_source});
  EXPECT_EQ(std::ranges::count(results, StoreResult::kAccepted), 3);
}

TEST_F(EventStoreTest, LetsExactlyOneOfManyThreadsWin) {
  constexpr int kThreads = 16;
  std::atomic<int> accepted = 0;
  std::atomic<int> duplicates = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Connection own{database().url(), SessionSettings{}};
      EventStore store;
      const std::vector<Delivery> batch{a_delivery("evt_b"), a_delivery("evt_a")};
      for (const auto result : store.record(own, batch)) {
        if (result == StoreResult::kAccepted) ++accepted;
        if (result == StoreResult::kDuplicate) ++duplicates;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(accepted, 2);
  EXPECT_EQ(duplicates, 2 * kThreads - 2);
  EXPECT_EQ(database().value("SELECT sum(deliveries) FROM hookgate.events"),
            std::to_string(2 * kThreads));
}

TEST_F(EventStoreTest, CountsAnExpectedDuplicateWithTheBatchItCameIn) {
  record({a_delivery("evt_1"), a_delivery("evt_2")});
  const auto results = record(
      {a_delivery("evt_3"), a_delivery("evt_1"), a_delivery("evt_2", 'b'), a_delivery("evt_1")});
  EXPECT_EQ(results, (std::vector{StoreResult::kAccepted, StoreResult::kDuplicate,
                                  StoreResult::kConflict, StoreResult::kDuplicate}));
  EXPECT_EQ(database().value("SELECT deliveries FROM hookgate.events WHERE event_id = 'evt_1'"),
            "3");
  EXPECT_EQ(database().value("SELECT deliveries FROM hookgate.events WHERE event_id = 'evt_2'"),
            "2");
  EXPECT_EQ(database().value("SELECT deliveries FROM hookgate.events WHERE event_id = 'evt_3'"),
            "1");
}

TEST_F(EventStoreTest, StoresAnExpectedDuplicateWhoseRowIsGone) {
  record({a_delivery("evt_1"), a_delivery("evt_2")});
  database().execute("DELETE FROM hookgate.events");
  EXPECT_EQ(record({a_delivery("evt_3"), a_delivery("evt_1")}),
            (std::vector{StoreResult::kAccepted, StoreResult::kAccepted}));
  EXPECT_EQ(record_one(a_delivery("evt_2")), StoreResult::kAccepted);
}

TEST_F(EventStoreTest, ABadRowDoesNotKeepADuplicateFromBeingCounted) {
  record_one(a_delivery("evt_1"));
  const auto results = record({a_delivery("bad\xff"), a_delivery("evt_1"), a_delivery("evt_2")});
  EXPECT_EQ(results,
            (std::vector{StoreResult::kFailed, StoreResult::kDuplicate, StoreResult::kAccepted}));
  EXPECT_EQ(database().value("SELECT deliveries FROM hookgate.events WHERE event_id = 'evt_1'"),
            "2");
}

// Writers that share what was stored lately, and meet the same events new and known at once.
TEST_F(EventStoreTest, CountsEveryDeliveryWhileWritersMeetTheSameEvents) {
  constexpr int kThreads = 4;
  constexpr int kBatches = 60;
  constexpr int kEvents = 40;
  const auto recent = std::make_shared<RecentKeys>();
  std::atomic<int> accepted = 0;
  std::atomic<int> duplicates = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Connection own{database().url(), SessionSettings{}};
      EventStore store{recent};
      for (int i = 0; i < kBatches; ++i) {
        std::vector<Delivery> batch;
        for (int k = 0; k < 6; ++k) {
          const int event = (thread % 2 == 0 ? i + k * 7 : kBatches - i + k * 5) % kEvents;
          batch.push_back(a_delivery("evt_" + std::to_string(event)));
        }
        const auto results = store.record(own, batch);
        accepted += static_cast<int>(std::ranges::count(results, StoreResult::kAccepted));
        duplicates += static_cast<int>(std::ranges::count(results, StoreResult::kDuplicate));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(accepted, kEvents);
  EXPECT_EQ(accepted + duplicates, kThreads * kBatches * 6);
  EXPECT_EQ(database().value("SELECT sum(deliveries) FROM hookgate.events"),
            std::to_string(kThreads * kBatches * 6));
}

TEST_F(EventStoreTest, KeepsTheBodyByteForByte) {
  std::string body = "\x00\xff\xfe{}\r\n"s;
  for (int i = 0; i < 256; ++i) body += static_cast<char>(i);
  record_one(a_delivery("evt_1", 'a', body));
  EXPECT_EQ(database().value("SELECT encode(sha256(body), 'hex') = encode(sha256(decode('" +
                             [&] {
                               std::string hex;
                               for (const char c : body) {
                                 constexpr std::string_view kHex = "0123456789abcdef";
                                 hex += kHex[static_cast<unsigned char>(c) >> 4U];
                                 hex += kHex[static_cast<unsigned char>(c) & 15U];
                               }
                               return hex;
                             }() +
                             "', 'hex')), 'hex') FROM hookgate.event_bodies"),
            "t");
}

// As a text parameter of the client library this id would be stored as "evt_1" without a word.
TEST_F(EventStoreTest, RefusesAnIdWithANulInsteadOfCuttingIt) {
  const auto results = record({a_delivery("evt_1\0x"s), a_delivery("evt_2")});
  EXPECT_EQ(results[0], StoreResult::kFailed);
  EXPECT_EQ(results[1], StoreResult::kAccepted);
  EXPECT_EQ(database().count("hookgate.events WHERE event_id = 'evt_1'"), 0);
}

TEST_F(EventStoreTest, OneBadRowDoesNotFailItsNeighbours) {
  std::vector<Delivery> batch;
  batch.reserve(20);
  for (int i = 0; i < 20; ++i) batch.push_back(a_delivery("evt_" + std::to_string(i)));
  batch[7] = a_delivery("bad\xff");
  batch[13] = a_delivery(std::string(300, 'x'));
  const auto results = record(batch);
  EXPECT_EQ(std::ranges::count(results, StoreResult::kAccepted), 18);
  EXPECT_EQ(results[7], StoreResult::kFailed);
  EXPECT_EQ(results[13], StoreResult::kFailed);
}

TEST_F(EventStoreTest, KeepsOtherSignedContentAsAConflictBesideTheFirst) {
  record_one(a_delivery("evt_1", 'a', "first"));
  EXPECT_EQ(record_one(a_delivery("evt_1", 'b', "second")), StoreResult::kConflict);
  EXPECT_EQ(record_one(a_delivery("evt_1", 'b', "second")), StoreResult::kConflict);
  EXPECT_EQ(database().count("hookgate.conflicts"), 1);
  EXPECT_EQ(database().value("SELECT convert_from(body, 'UTF8') FROM hookgate.conflicts"),
            "second");
  EXPECT_EQ(database().value("SELECT convert_from(body, 'UTF8') FROM hookgate.event_bodies"),
            "first");
}

TEST_F(EventStoreTest, KeepsOtherUnsignedContentAsARevisionThatCountsAsADuplicate) {
  record_one(a_delivery("evt_1", 'a'));
  auto revision = a_delivery("evt_1", 'a', "newer details");
  revision.event.content = digest_of('z');
  EXPECT_EQ(record_one(revision), StoreResult::kDuplicate);
  EXPECT_EQ(database().count("hookgate.revisions"), 1);
  EXPECT_EQ(database().count("hookgate.conflicts"), 0);
}

TEST_F(EventStoreTest, SendsADoneEventRoundAgainWhenAnotherVersionComes) {
  record_one(a_delivery("evt_1", 'a'));
  database().execute("UPDATE hookgate.events SET status = 'done', done_at = now()");
  record_one(a_delivery("evt_1", 'b'));
  EXPECT_EQ(database().value("SELECT status || versions FROM hookgate.events"), "pending1");
}

TEST_F(EventStoreTest, LeavesADoneEventDoneWhenItsDuplicateComes) {
  record_one(a_delivery("evt_1"));
  database().execute("UPDATE hookgate.events SET status = 'done', done_at = now()");
  record_one(a_delivery("evt_1"));
  EXPECT_EQ(database().value("SELECT status FROM hookgate.events"), "done");
}

TEST_F(EventStoreTest, KeepsABoundedNumberOfVersions) {
  record_one(a_delivery("evt_1", 0));
  for (int i = 1; i <= EventStore::kVersionsMax + 5; ++i)
    record_one(a_delivery("evt_1", static_cast<char>(i)));
  EXPECT_EQ(database().count("hookgate.conflicts"), EventStore::kVersionsMax);
  EXPECT_EQ(database().value("SELECT deliveries FROM hookgate.events"),
            std::to_string(EventStore::kVersionsMax + 6));
}

// A worker that finishes a batch and a writer that counts duplicates may want the same rows in
// another order; the writer must not wait for one row while it holds another.
TEST_F(EventStoreTest, CountsADuplicateOnceTheHolderOfItsRowLetsGo) {
  record({a_delivery("evt_1"), a_delivery("evt_2")});
  pqxx::connection worker{database().url().reveal()};
  pqxx::work holding{worker};
  holding.exec("SELECT id FROM hookgate.events WHERE event_id = 'evt_1' FOR UPDATE");
  std::thread writer{[&] { record({a_delivery("evt_1"), a_delivery("evt_2")}); }};
  while (database().value("SELECT deliveries FROM hookgate.events WHERE event_id = 'evt_2'") !=
         "2") {
    std::this_thread::yield();
  }
  holding.commit();
  writer.join();
  EXPECT_EQ(database().value("SELECT deliveries FROM hookgate.events WHERE event_id = 'evt_1'"),
            "2");
}

TEST_F(EventStoreTest, StoresAnUnusableEventAsDeadWithItsReason) {
  auto delivery = a_delivery("sha256:00");
  delivery.event.unusable = "the body is not JSON";
  EXPECT_EQ(record_one(delivery), StoreResult::kAccepted);
  EXPECT_EQ(database().value("SELECT status || ': ' || last_error FROM hookgate.events"),
            "dead: the body is not JSON");
}

TEST_F(EventStoreTest, StoresAnEventOfTheWrongModeAsIgnored) {
  auto delivery = a_delivery("evt_1");
  delivery.ignore_reason = "a test-mode event on a source for live events";
  record_one(delivery);
  EXPECT_EQ(database().value("SELECT status FROM hookgate.events"), "ignored");
}

TEST_F(EventStoreTest, PutsBodiesIntoThePartitionOfTheirDay) {
  record_one(a_delivery("evt_1"));
  EXPECT_EQ(database().value("SELECT day FROM hookgate.event_bodies"), "2026-01-01");
}

// Law 3: a session that dies leaves an unknown outcome; the caller must answer 503, and repeat
// safely.
TEST_F(EventStoreTest, SaysUnavailableWhenTheSessionIsKilledAndNeverReusesIt) {
  record_one(a_delivery("evt_1"));
  database().execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
      "AND pid <> pg_backend_pid()");
  EXPECT_THROW(record_one(a_delivery("evt_2")), StoreUnavailable);
  // Without inhibit_reactivation the third use would run on a new session without our settings.
  EXPECT_THROW(record_one(a_delivery("evt_2")), StoreUnavailable);
  EXPECT_THROW(record_one(a_delivery("evt_2")), StoreUnavailable);
  EXPECT_EQ(database().count("hookgate.events WHERE event_id = 'evt_2'"), 0);
}

}  // namespace
}  // namespace hookgate
