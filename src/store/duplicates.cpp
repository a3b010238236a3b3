#include "store/duplicates.h"

#include <algorithm>
#include <iterator>

#include <pqxx/pqxx>

#include "store/binary_array.h"
#include "store/error_translation.h"
#include "store/offered_events.h"

namespace hookgate {

const std::string_view kCountKnownParts = R"sql(
  known AS (
    SELECT s.ordinality AS n, s.received_at, e.id, e.content = s.content AS same_content,
           e.signed_content = s.signed_content AS same_signed_content
      FROM suspected s
     CROSS JOIN LATERAL (
       SELECT id, content, signed_content
         FROM hookgate.events
        WHERE source = s.source AND scope = s.scope AND event_id = s.event_id
        LIMIT 1) e
  ), free AS (
    SELECT id FROM hookgate.events WHERE id = ANY (ARRAY(SELECT id FROM known))
       FOR NO KEY UPDATE SKIP LOCKED
  ), counted AS (
    UPDATE hookgate.events e
       SET deliveries = e.deliveries + (SELECT count(*) FROM known WHERE known.id = e.id)::integer,
           last_seen_at = greatest(e.last_seen_at,
                                   (SELECT max(received_at) FROM known WHERE known.id = e.id))
     WHERE id = ANY (ARRAY(SELECT id FROM free))
    RETURNING e.id
  )
)sql";

const std::string_view kSelectKnown = R"sql(
  SELECT n, id, same_content, same_signed_content, id = ANY (ARRAY(SELECT id FROM counted)) FROM known
)sql";

namespace {

constexpr auto kCountOneRow = R"sql(
  UPDATE hookgate.events
     SET deliveries = deliveries + $2, last_seen_at = greatest(last_seen_at, ($3::timestamptz[])[1])
   WHERE id = $1
)sql";

constexpr auto kKeepVersion = R"sql(
  WITH kept AS (
    INSERT INTO hookgate.%s (event, received_at, item, fingerprint, head, body)
    SELECT $1, ($2::timestamptz[])[1], $3, ($4::bytea[])[1], ($4::bytea[])[2], ($4::bytea[])[3]
     WHERE (SELECT count(*) FROM hookgate.%s WHERE event = $1) < $5
    ON CONFLICT (event, fingerprint) DO NOTHING
    RETURNING event
  )
  UPDATE hookgate.events e
     SET versions = e.versions + 1,
         due_at = CASE WHEN e.status = 'done' THEN now() ELSE e.due_at END,
         done_at = CASE WHEN e.status = 'done' THEN NULL ELSE e.done_at END,
         status = CASE WHEN e.status = 'done' THEN 'pending' ELSE e.status END
    FROM kept
   WHERE e.id = kept.event
)sql";

// Deliveries of one event that are to be counted.
struct Seen {
  std::int64_t id;
  std::int64_t deliveries;
  SystemTime last_at;
};

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

pqxx::binarystring binary(const BinaryArray& array) {
  return pqxx::binarystring(array.finish());
}

// Looks at those that nobody has looked at.
void count_known(Connection& connection, std::span<Duplicate> duplicates) {
  std::vector<Duplicate> unknown;
  std::ranges::copy_if(duplicates, std::back_inserter(unknown),
                       [](const Duplicate& duplicate) { return !duplicate.known; });
  if (unknown.empty()) return;
  static const auto kStatement =
      "WITH suspected AS (SELECT * FROM unnest($1::hookgate.offered_event[]) WITH ORDINALITY), " +
      std::string{kCountKnownParts} + std::string{kSelectKnown};
  connection.prepare_once("count_known", kStatement);
  const pqxx::binarystring keys{suspected_duplicates(connection, unknown).finish()};
  pqxx::nontransaction transaction{connection.raw()};
  for (const auto& row : transaction.exec_prepared("count_known", keys)) read_known(row, unknown);
  auto looked_at = unknown.begin();
  for (auto& duplicate : duplicates) {
    if (!duplicate.known) duplicate.known = (looked_at++)->known;
  }
}

void add_delivery(std::vector<Seen>& seen, std::int64_t id, SystemTime at) {
  const auto known = std::ranges::find(seen, id, &Seen::id);
  if (known == seen.end()) {
    seen.push_back({id, 1, at});
  } else {
    ++known->deliveries;
    known->last_at = std::max(known->last_at, at);
  }
}

void count_one_by_one(Connection& connection, const std::vector<Seen>& seen) {
  connection.prepare_once("count_one_row", kCountOneRow);
  pqxx::nontransaction transaction{connection.raw()};
  for (const auto& one : seen) {
    auto at = BinaryArray::of_timestamptz();
    at.add(one.last_at);
    transaction.exec_prepared("count_one_row", one.id, one.deliveries, binary(at));
  }
}

void keep_version(Connection& connection, const KnownEvent& known, const Delivery& delivery) {
  const bool is_conflict = !known.same_signed_content;
  const std::string table = is_conflict ? "conflicts" : "revisions";
  std::string statement = kKeepVersion;
  for (auto at = statement.find("%s"); at != std::string::npos; at = statement.find("%s")) {
    statement.replace(at, 2, table);
  }
  auto received_at = BinaryArray::of_timestamptz();
  received_at.add(delivery.request->received_at);
  auto bytes = BinaryArray::of_bytea();
  bytes.add(bytes_of(delivery.event.content));
  bytes.add(delivery.request->head);
  bytes.add(delivery.request->body);
  connection.prepare_once("keep_" + table, statement);
  pqxx::nontransaction transaction{connection.raw()};
  transaction.exec_prepared("keep_" + table, known.id, binary(received_at), delivery.event.item,
                            binary(bytes), EventStore::kVersionsMax);
}

}  // namespace

void read_known(const pqxx::row& row, std::span<Duplicate> suspected) {
  suspected[row[0].as<std::size_t>() - 1].known =
      KnownEvent{.id = row[1].as<std::int64_t>(),
                 .same_content = row[2].as<bool>(),
                 .same_signed_content = row[3].as<bool>(),
                 .is_counted = row[4].as<bool>()};
}

std::vector<std::optional<StoreResult>> judge_duplicates(Connection& connection,
                                                         std::vector<Duplicate> duplicates) {
  std::vector<std::optional<StoreResult>> results(duplicates.size());
  const auto judge = [&] {
    count_known(connection, duplicates);
    std::vector<Seen> uncounted;
    for (std::size_t i = 0; i < duplicates.size(); ++i) {
      const auto& [position, delivery, known] = duplicates[i];
      if (!known) continue;
      if (!known->is_counted) add_delivery(uncounted, known->id, delivery->request->received_at);
      if (!known->same_content) keep_version(connection, *known, *delivery);
      results[i] = known->same_signed_content ? StoreResult::kDuplicate : StoreResult::kConflict;
    }
    if (!uncounted.empty()) count_one_by_one(connection, uncounted);
  };
  try {
    translate_errors(judge);
  } catch (const SqlError& error) {
    throw StoreUnavailable(std::string{"counting duplicates failed: "} + error.what());
  }
  return results;
}

}  // namespace hookgate
