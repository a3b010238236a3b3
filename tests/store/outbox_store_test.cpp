#include "store/outbox_store.h"

#include "store/event_queue.h"
#include "store/outbox_admin.h"
#include "store_test_support.h"

namespace hookgate {
namespace {

class OutboxStoreTest : public StoreTest {
 protected:
  std::int64_t write(const std::string& key, const std::string& status = "pending",
                     const std::string& destination = "crm") {
    return std::stoll(database().value(
        "INSERT INTO hookgate.outbox (destination, idempotency_key, event, subject, event_type, "
        "content_type, body, status, sent_at, discarded_at, attempts) VALUES ('" +
        destination + "', '" + key + "', 1, 'pi_1', 't', 'application/json', 'abc', '" + status +
        "', '2026-01-01', '2026-01-01', 7) RETURNING id"));
  }
  std::string of(std::int64_t id, const std::string& column) {
    return database().value("SELECT " + column +
                            "::text FROM hookgate.outbox WHERE id = " + std::to_string(id));
  }
  std::vector<std::string> keys(const MessageFilter& filter) {
    std::vector<std::string> found;
    for (const auto& message : list_messages(connection(), filter))
      found.push_back(message.idempotency_key);
    return found;
  }
  using Keys = std::vector<std::string>;
};

TEST_F(OutboxStoreTest, OneKeyIsOneMessage) {
  write("k1");
  EXPECT_THROW(write("k1"), std::exception);
}

TEST_F(OutboxStoreTest, EndsTheLeasesOfProcessesThatAreGoneAndOfNoOther) {
  const auto alive = fresh_instance();
  Connection presence{database().url(), SessionSettings{}};
  show_presence(presence, alive);
  write("k1");
  const auto claimed = claim_message(connection(), {.destination = "crm", .instance = alive});
  ASSERT_TRUE(claimed);
  EXPECT_EQ(release_messages_of_the_gone(connection()), 0U);
  EXPECT_FALSE(claim_message(connection(), {.destination = "crm", .instance = alive}));
  database().execute("UPDATE hookgate.outbox SET claim_token = claim_token + (1::bigint << 32)");
  EXPECT_EQ(release_messages_of_the_gone(connection()), 1U);
  EXPECT_TRUE(claim_message(connection(), {.destination = "crm", .instance = alive}));
}

TEST_F(OutboxStoreTest, DeletesWhatWasSentOrDiscardedLongAgoAndKeepsTheDead) {
  for (const auto* status : {"pending", "sent", "dead", "discarded"}) write(status, status);
  EXPECT_EQ(prune_outbox(connection(), *parse_instant("2025-12-31T00:00:00Z")), 0U);
  EXPECT_EQ(prune_outbox(connection(), *parse_instant("2026-01-02T00:00:00Z")), 2U);
  EXPECT_EQ(database().count("hookgate.outbox WHERE status IN ('pending', 'dead')"), 2);
  EXPECT_EQ(database().count("hookgate.outbox"), 2);
}

TEST_F(OutboxStoreTest, DeletesALimitedNumberAtOnce) {
  for (int i = 0; i < 5; ++i) write("k" + std::to_string(i), "sent");
  EXPECT_EQ(prune_outbox(connection(), *parse_instant("2026-01-02T00:00:00Z"), 3), 3U);
}

TEST_F(OutboxStoreTest, ListsWhatIsNotSettledUnlessToldOtherwise) {
  for (const auto* status : {"pending", "sent", "dead", "discarded"}) write(status, status);
  write("mail", "dead", "mail");
  EXPECT_EQ(keys({}), (Keys{"mail", "dead", "pending"}));
  EXPECT_EQ(keys({.status = "sent"}), (Keys{"sent"}));
  EXPECT_EQ(keys({.destination = "mail"}), (Keys{"mail"}));
  EXPECT_EQ(keys({.limit = 1}), (Keys{"mail"}));
}

TEST_F(OutboxStoreTest, RetriesADeadMessageWithAllItsTries) {
  const auto id = write("k1", "dead");
  EXPECT_TRUE(change_message(connection(), MessageChange::kRetry, id));
  EXPECT_EQ(of(id, "status"), "pending");
  EXPECT_EQ(of(id, "attempts"), "0");
  EXPECT_EQ(of(id, "(due_at <= now())"), "true");
}

TEST_F(OutboxStoreTest, NeitherRetriesNorDiscardsWhatIsSent) {
  const auto id = write("k1", "sent");
  EXPECT_FALSE(change_message(connection(), MessageChange::kRetry, id));
  EXPECT_FALSE(change_message(connection(), MessageChange::kDiscard, id));
  EXPECT_EQ(of(id, "status"), "sent");
}

TEST_F(OutboxStoreTest, DoesNotRetryWhatIsBeingSent) {
  const auto id = write("k1");
  const auto claimed = claim_message(connection(), {.destination = "crm"});
  EXPECT_FALSE(change_message(connection(), MessageChange::kRetry, id));
  const auto message = find_message(connection(), id);
  EXPECT_TRUE(message->is_being_sent);
  EXPECT_FALSE(can_change(MessageChange::kRetry, *message));
  EXPECT_TRUE(can_change(MessageChange::kDiscard, *message));
}

TEST_F(OutboxStoreTest, ATryUnderWayCannotBringBackADiscardedMessage) {
  const auto id = write("k1");
  const auto claimed = claim_message(connection(), {.destination = "crm"});
  EXPECT_TRUE(change_message(connection(), MessageChange::kDiscard, id));
  EXPECT_FALSE(record_try(
      connection(), {claimed->id, claimed->token, TryOutcome::Status::kRetry, {}, "HTTP 500"}));
  EXPECT_EQ(of(id, "status"), "discarded");
}

TEST_F(OutboxStoreTest, ChangesTheDeadOfADestinationAndNoOther) {
  write("k1", "dead");
  write("k2", "dead");
  write("k3", "dead", "mail");
  write("k4");
  EXPECT_EQ(count_dead(connection(), "crm"), 2U);
  EXPECT_EQ(change_dead(connection(), MessageChange::kDiscard, "crm"), 2U);
  EXPECT_EQ(database().count("hookgate.outbox WHERE status = 'discarded'"), 2);
  EXPECT_EQ(change_dead(connection(), MessageChange::kRetry, std::nullopt), 1U);
  EXPECT_EQ(database().count("hookgate.outbox WHERE status = 'pending'"), 2);
}

TEST_F(OutboxStoreTest, ChangesMoreDeadThanOneStatementTakes) {
  database().execute(
      "INSERT INTO hookgate.outbox (destination, idempotency_key, event, subject, event_type, "
      "content_type, body, status) SELECT 'crm', i::text, i, '', 't', 't', '', 'dead' FROM "
      "generate_series(1, 2500) i");
  EXPECT_EQ(change_dead(connection(), MessageChange::kRetry, std::nullopt), 2500U);
  EXPECT_EQ(database().count("hookgate.outbox WHERE status = 'pending'"), 2500);
}

}  // namespace
}  // namespace hookgate
