#include "store/duplicates.h"

#include <algorithm>

#include <pqxx/pqxx>

#include "store/binary_array.h"
#include "store/error_translation.h"

namespace hookgate {
namespace {

constexpr auto kFindKnown = R"sql(
  SELECT i.n, e.id, e.content = i.content, e.signed_content = i.signed_content
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::bytea[])
         WITH ORDINALITY AS i (source, scope, event_id, content, signed_content, n)
    JOIN hookgate.events e USING (source, scope, event_id)
)sql";

// Rows that a worker or another writer holds now are left out, or we could deadlock with it; the
// caller counts those one by one, holding nothing else.
constexpr auto kCountFreeRows = R"sql(
  WITH seen AS (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS t (id, deliveries, seen_at)
  ), free AS (
    SELECT id FROM hookgate.events WHERE id IN (SELECT id FROM seen) FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE hookgate.events e
     SET deliveries = e.deliveries + s.deliveries, last_seen_at = greatest(e.last_seen_at, s.seen_at)
    FROM seen s
    JOIN free USING (id)
   WHERE e.id = s.id
  RETURNING e.id
)sql";

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

// Fills in `known` where it is missing and the row can be seen by now.
void find_known(Connection& connection, std::span<Duplicate> duplicates) {
  std::vector<Duplicate*> missing;
  for (auto& duplicate : duplicates) {
    if (!duplicate.known) missing.push_back(&duplicate);
  }
  if (missing.empty()) return;
  auto source = BinaryArray::of_text();
  auto scope = BinaryArray::of_text();
  auto event_id = BinaryArray::of_text();
  auto content = BinaryArray::of_bytea();
  auto signed_content = BinaryArray::of_bytea();
  for (const auto* duplicate : missing) {
    const auto& [request, event, ignore_reason] = *duplicate->delivery;
    source.add(request->source);
    scope.add(event.scope);
    event_id.add(event.event_id);
    content.add(bytes_of(event.content));
    signed_content.add(bytes_of(event.signed_content));
  }
  connection.prepare_once("find_known", kFindKnown);
  pqxx::nontransaction transaction{connection.raw()};
  const auto rows =
      transaction.exec_prepared("find_known", binary(source), binary(scope), binary(event_id),
                                binary(content), binary(signed_content));
  for (const auto& row : rows) {
    missing[row[0].as<std::size_t>() - 1]->known =
        KnownEvent{.id = row[1].as<std::int64_t>(),
                   .same_content = row[2].as<bool>(),
                   .same_signed_content = row[3].as<bool>()};
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

void count_deliveries(Connection& connection, std::vector<Seen> seen) {
  auto id = BinaryArray::of_bigint();
  auto deliveries = BinaryArray::of_bigint();
  auto seen_at = BinaryArray::of_timestamptz();
  for (const auto& one : seen) {
    id.add(one.id);
    deliveries.add(one.deliveries);
    seen_at.add(one.last_at);
  }
  connection.prepare_once("count_free_rows", kCountFreeRows);
  connection.prepare_once("count_one_row", kCountOneRow);
  pqxx::nontransaction transaction{connection.raw()};
  const auto counted =
      transaction.exec_prepared("count_free_rows", binary(id), binary(deliveries), binary(seen_at));
  for (const auto& row : counted) {
    std::erase_if(seen, [&](const Seen& one) { return one.id == row[0].as<std::int64_t>(); });
  }
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

std::vector<std::optional<StoreResult>> judge_duplicates(Connection& connection,
                                                         std::span<const Duplicate> duplicates) {
  std::vector<std::optional<StoreResult>> results(duplicates.size());
  const auto judge = [&] {
    std::vector<Duplicate> found{duplicates.begin(), duplicates.end()};
    find_known(connection, found);
    std::vector<Seen> uncounted;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& [position, delivery, known] = found[i];
      if (!known) continue;
      if (!known->is_counted) add_delivery(uncounted, known->id, delivery->request->received_at);
      if (!known->same_content) keep_version(connection, *known, *delivery);
      results[i] = known->same_signed_content ? StoreResult::kDuplicate : StoreResult::kConflict;
    }
    if (!uncounted.empty()) count_deliveries(connection, std::move(uncounted));
  };
  try {
    translate_errors(judge);
  } catch (const SqlError& error) {
    throw StoreUnavailable(std::string{"counting duplicates failed: "} + error.what());
  }
  return results;
}

}  // namespace hookgate
