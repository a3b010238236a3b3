#include "store/event_store.h"

#include <algorithm>
#include <numeric>

#include <pqxx/pqxx>

#include "store/binary_array.h"
#include "store/duplicates.h"
#include "store/error_translation.h"

namespace hookgate {
namespace {

constexpr std::int64_t kIdBlock = 1000;  // the INCREMENT of hookgate.event_ids

// Ids are ours, so that RETURNING tells the rows that were new. A row inserted meanwhile by another
// process is waited for and then is a duplicate; rows go in by key, or two writers could deadlock.
//
// Most duplicates are of rows that this statement can see; it counts them itself, for a statement
// of their own would cost every batch a second commit. It leaves out rows that a worker or another
// writer holds, or we could deadlock with it.
constexpr auto kInsertEvents = R"sql(
  WITH incoming AS (
    SELECT *
      FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                  $8::text[], $9::bigint[], $10::bigint[], $11::timestamptz[], $12::timestamptz[],
                  $13::bytea[], $14::bytea[], $15::bytea[], $16::bytea[])
        AS t (id, source, scope, event_id, event_type, subject, status, last_error, item, secret_index,
              occurred_at, received_at, content, signed_content, head, body)
  ), stored AS (
    INSERT INTO hookgate.events
           (id, source, scope, event_id, event_type, subject, status, last_error, item, secret_index,
            occurred_at, received_at, last_seen_at, done_at, content, signed_content)
    SELECT id, source, scope, event_id, event_type, subject, status, last_error, item, secret_index,
           occurred_at, received_at, received_at, CASE WHEN status = 'ignored' THEN received_at END,
           content, signed_content
      FROM incoming
     ORDER BY source, scope, event_id, id
    ON CONFLICT (source, scope, event_id) DO NOTHING
    RETURNING id
  ), bodies AS (
    INSERT INTO hookgate.event_bodies (day, event, head, body)
    SELECT (received_at AT TIME ZONE 'UTC')::date, id, head, body
      FROM incoming
      JOIN stored USING (id)
  ), known AS (
    SELECT i.id AS offered, e.id, e.content = i.content AS same_content,
           e.signed_content = i.signed_content AS same_signed_content, i.received_at
      FROM incoming i
     CROSS JOIN LATERAL (
       SELECT * FROM hookgate.events
        WHERE source = i.source AND scope = i.scope AND event_id = i.event_id
        LIMIT 1) e
  ), free AS (
    SELECT id FROM hookgate.events
     WHERE id = ANY (ARRAY(SELECT id FROM known))
       FOR NO KEY UPDATE SKIP LOCKED
  ), counted AS (
    UPDATE hookgate.events e
       SET deliveries = e.deliveries + (SELECT count(*) FROM known WHERE known.id = e.id)::integer,
           last_seen_at = greatest(e.last_seen_at,
                                   (SELECT max(received_at) FROM known WHERE known.id = e.id))
     WHERE id = ANY (ARRAY(SELECT id FROM free))
    RETURNING e.id
  )
  SELECT id, NULL::bigint, NULL::boolean, NULL::boolean, NULL::boolean FROM stored
  UNION ALL
  SELECT offered, id, same_content, same_signed_content, id = ANY (ARRAY(SELECT id FROM counted)) FROM known
)sql";

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

bool is_data_error(const SqlError& error) {
  return error.sqlstate().starts_with("22") || error.sqlstate().starts_with("23");
}

}  // namespace

std::int64_t EventStore::next_id(Connection& connection) {
  if (next_id_ > last_id_) {
    pqxx::nontransaction transaction{connection.raw()};
    next_id_ = transaction.exec1("SELECT nextval('hookgate.event_ids')")[0].as<std::int64_t>();
    last_id_ = next_id_ + kIdBlock - 1;
  }
  return next_id_++;
}

// One statement, which commits itself.
std::vector<EventStore::Offered> EventStore::offer(Connection& connection,
                                                   std::span<const Delivery* const> deliveries) {
  std::vector<std::int64_t> ids;
  auto id = BinaryArray::of_bigint();
  auto source = BinaryArray::of_text();
  auto scope = BinaryArray::of_text();
  auto event_id = BinaryArray::of_text();
  auto event_type = BinaryArray::of_text();
  auto subject = BinaryArray::of_text();
  auto status = BinaryArray::of_text();
  auto last_error = BinaryArray::of_text();
  auto item = BinaryArray::of_bigint();
  auto secret_index = BinaryArray::of_bigint();
  auto occurred_at = BinaryArray::of_timestamptz();
  auto received_at = BinaryArray::of_timestamptz();
  auto content = BinaryArray::of_bytea();
  auto signed_content = BinaryArray::of_bytea();
  auto head = BinaryArray::of_bytea();
  auto body = BinaryArray::of_bytea();
  std::vector<Offered> offered(deliveries.size());
  translate_errors([&] {
    for (const auto* delivery : deliveries) {
      const auto& [request, event, ignore_reason] = *delivery;
      ids.push_back(next_id(connection));
      id.add(ids.back());
      source.add(request->source);
      scope.add(event.scope);
      event_id.add(event.event_id);
      event_type.add(event.event_type);
      subject.add(event.subject);
      status.add(!event.unusable.empty() ? "dead" : !ignore_reason.empty() ? "ignored" : "pending");
      const auto& reason = !event.unusable.empty() ? event.unusable : ignore_reason;
      reason.empty() ? last_error.add_null() : last_error.add(reason);
      item.add(std::int64_t{event.item});
      secret_index.add(static_cast<std::int64_t>(request->secret_index));
      occurred_at.add(event.occurred_at);
      received_at.add(request->received_at);
      content.add(bytes_of(event.content));
      signed_content.add(bytes_of(event.signed_content));
      head.add(request->head);
      body.add(request->body);
    }
    const auto binary = [](const BinaryArray& array) { return pqxx::binarystring(array.finish()); };
    connection.prepare_once("insert_events", kInsertEvents);
    pqxx::nontransaction transaction{connection.raw()};
    const auto stored = transaction.exec_prepared(
        "insert_events", binary(id), binary(source), binary(scope), binary(event_id),
        binary(event_type), binary(subject), binary(status), binary(last_error), binary(item),
        binary(secret_index), binary(occurred_at), binary(received_at), binary(content),
        binary(signed_content), binary(head), binary(body));
    for (const auto& row : stored) {
      const auto found = std::ranges::lower_bound(ids, row[0].as<std::int64_t>());
      auto& one = offered[static_cast<std::size_t>(found - ids.begin())];
      one.is_new = row[1].is_null();
      if (one.is_new) continue;
      one.known = KnownEvent{.id = row[1].as<std::int64_t>(),
                             .same_content = row[2].as<bool>(),
                             .same_signed_content = row[3].as<bool>(),
                             .is_counted = row[4].as<bool>()};
    }
  });
  return offered;
}

// Offers all; on a data error halves the batch, so that one bad row fails alone.
void EventStore::offer_splitting(Connection& connection,
                                 std::span<const Delivery* const> deliveries,
                                 std::span<const std::size_t> positions,
                                 std::vector<StoreResult>& results,
                                 std::vector<Duplicate>& duplicates) {
  try {
    const auto offered = offer(connection, deliveries);
    for (std::size_t i = 0; i < deliveries.size(); ++i) {
      if (offered[i].is_new) {
        results[positions[i]] = StoreResult::kAccepted;
      } else {
        duplicates.push_back({positions[i], deliveries[i], offered[i].known});
      }
    }
  } catch (const SqlError& error) {
    if (!is_data_error(error))
      throw StoreUnavailable(std::string{"insert failed: "} + error.what());
    if (deliveries.size() == 1) {
      results[positions[0]] = StoreResult::kFailed;
      return;
    }
    const auto half = deliveries.size() / 2;
    offer_splitting(connection, deliveries.first(half), positions.first(half), results, duplicates);
    offer_splitting(connection, deliveries.subspan(half), positions.subspan(half), results,
                    duplicates);
  }
}

std::vector<StoreResult> EventStore::record(Connection& connection,
                                            std::span<const Delivery> deliveries) {
  constexpr int kRoundsMax = 3;
  std::vector<StoreResult> results(deliveries.size(), StoreResult::kFailed);
  std::vector<std::size_t> open(deliveries.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  // A duplicate whose row was pruned between the two statements is neither: it goes round again.
  for (int round = 0; round < kRoundsMax && !open.empty(); ++round) {
    std::vector<const Delivery*> offered;
    offered.reserve(open.size());
    for (const auto position : open) offered.push_back(&deliveries[position]);
    std::vector<Duplicate> duplicates;
    offer_splitting(connection, offered, open, results, duplicates);

    const auto judged = judge_duplicates(connection, duplicates);
    open.clear();
    for (std::size_t i = 0; i < duplicates.size(); ++i) {
      if (judged[i]) {
        results[duplicates[i].position] = *judged[i];
      } else {
        open.push_back(duplicates[i].position);
      }
    }
  }
  return results;
}

void notify_events(Connection& connection) {
  translate_errors([&] {
    pqxx::nontransaction{connection.raw()}.exec("SELECT pg_notify('hookgate_events', '')");
  });
}

}  // namespace hookgate
