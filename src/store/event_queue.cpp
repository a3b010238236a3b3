#include "store/event_queue.h"

#include <algorithm>
#include <random>

#include <pqxx/pqxx>

#include "store/binary_array.h"
#include "store/claim_token.h"
#include "store/error_translation.h"
#include "store/sql_session.h"

namespace hookgate {
namespace {

// Free events that are due. Each source has its share of the batch; what the others leave of it
// goes to those that filled theirs. Both read the head of a source in events_waiting, and stop when
// the batch is full. A row that the second finds as well, because a lock was let go between the
// two, is claimed once all the same.
constexpr auto kDue = R"sql(
  WITH shares AS MATERIALIZED (
    SELECT s.name, e.id
      FROM unnest($1::text[]) AS s (name)
     CROSS JOIN LATERAL (
       SELECT id
         FROM hookgate.events
        WHERE status = 'pending' AND claim_token IS NULL AND source = s.name AND due_at <= now()
        ORDER BY due_at, id
        LIMIT $5
          FOR UPDATE SKIP LOCKED) AS e
     LIMIT $2
  ), rest AS (
    SELECT e.id
      FROM (SELECT name FROM shares GROUP BY name HAVING count(*) >= $5) AS s
     CROSS JOIN LATERAL (
       SELECT id
         FROM hookgate.events
        WHERE status = 'pending' AND claim_token IS NULL AND source = s.name AND due_at <= now()
        ORDER BY due_at, id
       OFFSET $5
        LIMIT $2
          FOR UPDATE SKIP LOCKED) AS e
     LIMIT $2 - (SELECT count(*) FROM shares)
  ), due AS (
    SELECT id FROM shares
    UNION ALL
    SELECT id FROM rest
  ),
)sql";

// Events whose holder's lease ended.
constexpr auto kExpired = R"sql(
  WITH due AS (
    SELECT id
      FROM hookgate.events
     WHERE status = 'pending' AND claim_token IS NOT NULL AND due_at <= now() AND source = ANY ($1::text[])
     ORDER BY due_at, id
     LIMIT least($2::bigint, $5::bigint)
       FOR UPDATE SKIP LOCKED
  ),
)sql";

// The array is complete before the first row is changed: a scan of what is due that went on beside
// the change would pass over changed rows, and so skip others in their place. The outer join keeps
// an event whose bytes retention dropped.
constexpr auto kClaim = R"sql(
  claimed AS (
    UPDATE hookgate.events e
       SET attempts = attempts + 1, crashes = crashes + (e.claim_token IS NOT NULL)::integer,
           claim_token = $3, due_at = now() + $4 * interval '1 millisecond'
      FROM unnest(ARRAY(SELECT id FROM due)) AS chosen (id)
     WHERE e.id = chosen.id
    RETURNING e.*
  )
  SELECT c.id, c.source, c.scope, c.event_id, c.event_type, c.subject, c.item, c.attempts, c.failures,
         c.crashes, c.versions, c.finished, (extract(epoch FROM c.occurred_at) * 1000000)::bigint,
         (extract(epoch FROM c.received_at) * 1000000)::bigint, b.body
    FROM claimed c
    LEFT JOIN hookgate.event_bodies b
      ON b.day = (c.received_at AT TIME ZONE 'UTC')::date AND b.event = c.id
)sql";

constexpr auto kLoadVersions = R"sql(
  SELECT 'revision' AS kind, body, item, received_at, id FROM hookgate.revisions WHERE event = $1
  UNION ALL
  SELECT 'conflict' AS kind, body, item, received_at, id FROM hookgate.conflicts WHERE event = $1
   ORDER BY received_at, kind, id
)sql";

// The token is the fence: a worker whose lease ended changes nothing. A body that came under the id
// while the handlers ran sends the event round again.
constexpr auto kFinish = R"sql(
  UPDATE hookgate.events e
     SET status = CASE WHEN v.status = 'done' AND e.versions > v.versions THEN 'pending' ELSE v.status END,
         claim_token = NULL,
         finished = v.finished,
         last_error = nullif(v.last_error, ''),
         failures = e.failures + v.failed::integer,
         done_at = CASE WHEN v.status IN ('done', 'ignored') THEN now() END,
         due_at = now() + v.retry_ms * interval '1 millisecond'
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[])
      AS v (id, status, finished, last_error, retry_ms, versions, failed)
   WHERE e.id = v.id AND e.claim_token = $8 AND e.status = 'pending'
)sql";

constexpr auto kRenew = R"sql(
  UPDATE hookgate.events
     SET due_at = now() + $3 * interval '1 millisecond'
   WHERE id = ANY ($1::bigint[]) AND claim_token = $2 AND status = 'pending'
  RETURNING id
)sql";

// The instance is the upper half of the claim's token.
constexpr auto kReleaseClaimsOfTheGone = R"sql(
  UPDATE hookgate.events e
     SET due_at = now()
   WHERE e.status = 'pending' AND e.claim_token IS NOT NULL AND e.due_at > now()
     AND NOT EXISTS (
       SELECT 1
         FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = $1::bigint::oid
          AND l.objid = (e.claim_token >> 32)::oid
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))
)sql";

constexpr auto kLock = R"sql(
  SELECT pg_advisory_xact_lock(k)
    FROM (SELECT DISTINCT hashtextextended(name, 0) AS k FROM unnest($1::text[]) AS t (name) ORDER BY 1) AS keys
)sql";

std::uint64_t random_bits() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return random();
}

SystemTime instant_of(const pqxx::field& field) {
  return SystemTime{std::chrono::microseconds{field.as<std::int64_t>()}};
}

std::string text_of(const pqxx::field& field) {
  return std::string{field.c_str(), field.size()};
}

std::string bytes_of(const pqxx::field& field) {
  return pqxx::binarystring(field).str();
}

ClaimedEvent claimed_event(const pqxx::row& row, std::int64_t token) {
  ClaimedEvent claimed;
  claimed.token = token;
  auto& event = claimed.event;
  event.id = row[0].as<std::int64_t>();
  event.source = text_of(row[1]);
  event.scope = text_of(row[2]);
  event.event_id = text_of(row[3]);
  event.event_type = text_of(row[4]);
  event.subject = text_of(row[5]);
  event.item = row[6].as<int>();
  event.attempt = row[7].as<int>();
  claimed.failures = row[8].as<int>();
  claimed.crashes = row[9].as<int>();
  claimed.versions = row[10].as<int>();
  claimed.finished = text_of(row[11]);
  if (!row[12].is_null()) event.occurred_at = instant_of(row[12]);
  event.received_at = instant_of(row[13]);
  claimed.body_missing = row[14].is_null();
  if (!claimed.body_missing) event.body = bytes_of(row[14]);
  return claimed;
}

std::vector<ClaimedEvent> claim(Connection& connection, const ClaimOptions& options,
                                const std::string& name, const std::string& statement) {
  std::vector<ClaimedEvent> events;
  auto sources = BinaryArray::of_text();
  const auto count = options.sources.size();
  if (count == 0) return events;
  for (std::size_t i = 0; i < count; ++i)
    sources.add(options.sources[(options.first_source + i) % count]);
  const auto share = (options.events_max + count - 1) / count;
  const auto token = fresh_claim_token(options.instance);
  translate_errors([&] {
    connection.prepare_once(name, statement);
    pqxx::nontransaction transaction{connection.raw()};
    const auto rows =
        transaction.exec_prepared(name, pqxx::binarystring(sources.finish()), options.events_max,
                                  token, options.lease.count(), share);
    events.reserve(rows.size());
    for (const auto& row : rows) events.push_back(claimed_event(row, token));
  });
  std::ranges::sort(events, [](const ClaimedEvent& a, const ClaimedEvent& b) {
    return std::tie(a.event.subject, a.event.id) < std::tie(b.event.subject, b.event.id);
  });
  return events;
}

std::string_view status_text(FinishedEvent::Status status) {
  switch (status) {
    case FinishedEvent::Status::kDone: return "done";
    case FinishedEvent::Status::kIgnored: return "ignored";
    case FinishedEvent::Status::kDead: return "dead";
    case FinishedEvent::Status::kRetry: return "pending";
  }
  return "pending";
}

class WorkTransaction final : public EventTransaction {
 public:
  explicit WorkTransaction(Connection& connection)
      : connection_(connection), work_(connection.raw()), session_(connection, work_) {}

  SqlTransaction& sql() override { return session_; }
  void defer(std::chrono::milliseconds limit) override { session_.defer(limit); }

  void lock(std::span<const std::string> names) override {
    if (names.empty()) return;
    auto array = BinaryArray::of_text();
    for (const auto& name : names) array.add(name);
    translate_errors([&] {
      connection_.prepare_once("lock_names", kLock);
      work_.exec_prepared("lock_names", pqxx::binarystring(array.finish()));
    });
  }

  void savepoint() override { run("SAVEPOINT handler"); }
  void release_savepoint() override { run("RELEASE SAVEPOINT handler"); }
  void rollback_to_savepoint() override { run("ROLLBACK TO SAVEPOINT handler"); }
  void limit_statements(std::chrono::milliseconds limit) override {
    session_.limit_statements(limit);
  }

  std::size_t finish(std::int64_t token, std::span<const FinishedEvent> events) override {
    session_.flush();
    auto id = BinaryArray::of_bigint();
    auto status = BinaryArray::of_text();
    auto finished = BinaryArray::of_text();
    auto last_error = BinaryArray::of_text();
    auto retry_ms = BinaryArray::of_bigint();
    auto versions = BinaryArray::of_bigint();
    auto failed = BinaryArray::of_bigint();
    for (const auto& event : events) {
      id.add(event.id);
      status.add(status_text(event.status));
      finished.add(event.finished);
      last_error.add(event.last_error);
      retry_ms.add(std::int64_t{event.retry_after.count()});
      versions.add(std::int64_t{event.versions_seen});
      failed.add(std::int64_t{event.failed ? 1 : 0});
    }
    std::size_t rows = 0;
    translate_errors([&] {
      const auto binary = [](const BinaryArray& array) {
        return pqxx::binarystring(array.finish());
      };
      connection_.prepare_once("finish_events", kFinish);
      rows = work_
                 .exec_prepared("finish_events", binary(id), binary(status), binary(finished),
                                binary(last_error), binary(retry_ms), binary(versions),
                                binary(failed), token)
                 .affected_rows();
    });
    return rows;
  }

  void commit() override {
    session_.flush();
    translate_errors([&] { work_.commit(); });
  }

 private:
  void run(const char* statement) {
    translate_errors([&] { work_.exec(statement); });
  }

  Connection& connection_;
  pqxx::work work_;
  SqlSession session_;
};

}  // namespace

std::vector<ClaimedEvent> claim_events(Connection& connection, const ClaimOptions& options) {
  static const auto statement = std::string{kDue} + kClaim;
  return claim(connection, options, "claim_due", statement);
}

std::vector<ClaimedEvent> claim_expired(Connection& connection, const ClaimOptions& options) {
  auto one = options;
  one.events_max = 1;
  static const auto statement = std::string{kExpired} + kClaim;
  return claim(connection, one, "claim_expired", statement);
}

std::int64_t fresh_claim_token(std::int32_t instance) {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(instance) << 32U) |
                                   (random_bits() & 0xFFFFFFFFU));
}

std::vector<std::int64_t> renew_leases(Connection& connection, std::int64_t token,
                                       std::span<const std::int64_t> ids,
                                       std::chrono::milliseconds lease) {
  auto array = BinaryArray::of_bigint();
  for (const auto id : ids) array.add(id);
  std::vector<std::int64_t> renewed;
  translate_errors([&] {
    connection.prepare_once("renew_leases", kRenew);
    pqxx::nontransaction transaction{connection.raw()};
    for (const auto& row : transaction.exec_prepared(
             "renew_leases", pqxx::binarystring(array.finish()), token, lease.count()))
      renewed.push_back(row[0].as<std::int64_t>());
  });
  return renewed;
}

std::int32_t fresh_instance() {
  return static_cast<std::int32_t>(random_bits() % 0x7FFFFFFFU) + 1;
}

void show_presence(Connection& connection, std::int32_t instance) {
  translate_errors([&] {
    pqxx::nontransaction transaction{connection.raw()};
    // Shared, since the server may still hold it for a session that we have given up.
    transaction.exec_params("SELECT pg_advisory_lock_shared($1::integer, $2::integer)",
                            kPresenceLock, instance);
  });
}

std::size_t release_claims_of_the_gone(Connection& connection) {
  std::size_t released = 0;
  translate_errors([&] {
    pqxx::nontransaction transaction{connection.raw()};
    released = transaction.exec_params(kReleaseClaimsOfTheGone, kPresenceLock).affected_rows();
  });
  return released;
}

void load_versions(Connection& connection, ClaimedEvent& claimed) {
  claimed.event.versions.clear();
  translate_errors([&] {
    connection.prepare_once("load_versions", kLoadVersions);
    pqxx::nontransaction transaction{connection.raw()};
    for (const auto& row : transaction.exec_prepared("load_versions", claimed.event.id)) {
      EventVersion version;
      version.kind = text_of(row[0]) == "conflict" ? EventVersion::Kind::kConflict
                                                   : EventVersion::Kind::kRevision;
      version.body = bytes_of(row[1]);
      version.item = row[2].as<int>();
      claimed.event.versions.push_back(std::move(version));
    }
  });
}

void in_event_transaction(Connection& connection,
                          const std::function<void(EventTransaction&)>& work) {
  std::unique_ptr<WorkTransaction> transaction;
  translate_errors([&] { transaction = std::make_unique<WorkTransaction>(connection); });
  work(*transaction);
}

}  // namespace hookgate
