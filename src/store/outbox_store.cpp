#include "store/outbox_store.h"

#include <pqxx/pqxx>

#include "store/claim_token.h"
#include "store/error_translation.h"

namespace hookgate {
namespace {

// An earlier message of the subject is one with a smaller id that is not through yet, being sent or
// not. A dead one is through: it must not hold its subject up for ever.
constexpr auto kClaim = R"sql(
  WITH due AS (
    SELECT id
      FROM hookgate.outbox o
     WHERE o.destination = $1 AND o.status = 'pending' AND o.due_at <= now()
       AND (NOT $2::boolean OR o.subject = '' OR NOT EXISTS (
             SELECT 1
               FROM hookgate.outbox e
              WHERE e.destination = o.destination AND e.subject = o.subject AND e.subject <> ''
                AND e.status = 'pending' AND e.id < o.id))
     ORDER BY o.due_at, o.id
     LIMIT 1
       FOR UPDATE SKIP LOCKED
  )
  UPDATE hookgate.outbox o
     SET attempts = attempts + 1, claim_token = $3, due_at = now() + $4 * interval '1 millisecond'
    FROM due
   WHERE o.id = due.id
  RETURNING o.id, o.attempts, o.idempotency_key, o.content_type, o.event_type, o.event, o.item, o.body
)sql";

constexpr auto kRecord = R"sql(
  UPDATE hookgate.outbox
     SET status = $3,
         claim_token = NULL,
         sent_at = CASE WHEN $3 = 'sent' THEN now() END,
         due_at = now() + $4 * interval '1 millisecond',
         last_error = nullif($5, '')
   WHERE id = $1 AND claim_token = $2 AND status = 'pending'
)sql";

constexpr auto kReleaseClaimsOfTheGone = R"sql(
  UPDATE hookgate.outbox o
     SET due_at = now()
   WHERE o.status = 'pending' AND o.claim_token IS NOT NULL AND o.due_at > now()
     AND NOT EXISTS (
       SELECT 1
         FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = $1::bigint::oid
          AND l.objid = (o.claim_token >> 32)::oid
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))
)sql";

constexpr auto kPruneSent = R"sql(
  DELETE FROM hookgate.outbox
   WHERE id IN (SELECT id FROM hookgate.outbox
                 WHERE status = 'sent' AND sent_at < $1::timestamptz
                 ORDER BY sent_at LIMIT $2 FOR UPDATE SKIP LOCKED)
)sql";

constexpr auto kPruneDiscarded = R"sql(
  DELETE FROM hookgate.outbox
   WHERE id IN (SELECT id FROM hookgate.outbox
                 WHERE status = 'discarded' AND discarded_at < $1::timestamptz
                 ORDER BY discarded_at LIMIT $2 FOR UPDATE SKIP LOCKED)
)sql";

std::string status_text(TryOutcome::Status status) {
  switch (status) {
    case TryOutcome::Status::kSent: return "sent";
    case TryOutcome::Status::kDead: return "dead";
    case TryOutcome::Status::kRetry: return "pending";
  }
  return "pending";
}

ClaimedMessage claimed_message(const pqxx::row& row, std::int64_t token) {
  ClaimedMessage claimed;
  claimed.token = token;
  claimed.id = row[0].as<std::int64_t>();
  claimed.attempts = row[1].as<int>();
  auto& message = claimed.message;
  message.idempotency_key = row[2].c_str();
  message.content_type = row[3].c_str();
  message.event_type = row[4].c_str();
  message.event = row[5].as<std::int64_t>();
  message.item = row[6].as<int>();
  message.body = pqxx::binarystring(row[7]).str();
  return claimed;
}

}  // namespace

std::optional<ClaimedMessage> claim_message(Connection& connection, const MessageClaim& claim) {
  std::optional<ClaimedMessage> claimed;
  const auto token = fresh_claim_token(claim.instance);
  translate_errors([&] {
    connection.prepare_once("claim_message", kClaim);
    pqxx::nontransaction transaction{connection.raw()};
    const auto rows = transaction.exec_prepared("claim_message", claim.destination, claim.ordered,
                                                token, claim.lease.count());
    if (!rows.empty()) claimed = claimed_message(rows[0], token);
  });
  return claimed;
}

bool record_try(Connection& connection, const TryOutcome& outcome) {
  bool recorded = false;
  translate_errors([&] {
    connection.prepare_once("record_try", kRecord);
    pqxx::nontransaction transaction{connection.raw()};
    recorded =
        transaction
            .exec_prepared("record_try", outcome.id, outcome.token, status_text(outcome.status),
                           outcome.retry_after.count(), outcome.last_error)
            .affected_rows() == 1;
  });
  return recorded;
}

std::size_t release_messages_of_the_gone(Connection& connection) {
  std::size_t released = 0;
  translate_errors([&] {
    pqxx::nontransaction transaction{connection.raw()};
    released = transaction.exec_params(kReleaseClaimsOfTheGone, kPresenceLock).affected_rows();
  });
  return released;
}

std::size_t prune_outbox(Connection& connection, SystemTime before, std::size_t rows_max) {
  std::size_t deleted = 0;
  translate_errors([&] {
    for (const auto* statement : {kPruneSent, kPruneDiscarded}) {
      pqxx::nontransaction transaction{connection.raw()};
      deleted +=
          transaction.exec_params(statement, format_instant(before), rows_max).affected_rows();
    }
  });
  return deleted;
}

}  // namespace hookgate
