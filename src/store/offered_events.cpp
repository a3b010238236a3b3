#include "store/offered_events.h"

#include <string_view>

namespace hookgate {
namespace {

constexpr std::int32_t kFields = 16;
constexpr std::size_t kBytesBesideBody = 640;  // of a record, about: keys, digests, lengths

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string_view status_of(const Delivery& delivery) {
  if (!delivery.event.unusable.empty()) return "dead";
  return delivery.ignore_reason.empty() ? "pending" : "ignored";
}

// In the order of the type's fields.
void add(BinaryRecords& records, const Delivery& delivery, std::int64_t id, std::string_view head,
         std::string_view body) {
  const auto& [request, event, ignore_reason] = delivery;
  const auto& reason = event.unusable.empty() ? ignore_reason : event.unusable;
  records.begin_record();
  records.add_bigint(id);
  records.add_text(request->source);
  records.add_text(event.scope);
  records.add_text(event.event_id);
  records.add_text(event.event_type);
  records.add_text(event.subject);
  records.add_text(status_of(delivery));
  reason.empty() ? records.add_null_text() : records.add_text(reason);
  records.add_bigint(event.item);
  records.add_bigint(static_cast<std::int64_t>(request->secret_index));
  records.add_timestamptz(event.occurred_at);
  records.add_timestamptz(request->received_at);
  records.add_bytea(bytes_of(event.content));
  records.add_bytea(bytes_of(event.signed_content));
  records.add_bytea(head);
  records.add_bytea(body);
}

BinaryRecords no_events(Connection& connection) {
  return {connection.type_oid("hookgate.offered_event"), kFields};
}

}  // namespace

// Ids are ours, so that RETURNING tells the rows that were new. A row inserted meanwhile by another
// process is waited for and then is a duplicate; rows go in by key, or two writers could deadlock.
const std::string_view kStoreOfferedParts = R"sql(
  WITH incoming AS (
    SELECT * FROM unnest($1::hookgate.offered_event[])
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
  ))sql";

BinaryRecords offered_events(Connection& connection, std::span<const Delivery* const> deliveries,
                             std::span<const std::int64_t> ids) {
  auto records = no_events(connection);
  std::size_t bytes = 0;
  for (const auto* delivery : deliveries)
    bytes += delivery->request->head.size() + delivery->request->body.size() + kBytesBesideBody;
  records.reserve(bytes);
  for (std::size_t i = 0; i < deliveries.size(); ++i) {
    const auto& request = *deliveries[i]->request;
    add(records, *deliveries[i], ids[i], request.head, request.body);
  }
  return records;
}

BinaryRecords suspected_duplicates(Connection& connection, std::span<const Duplicate> suspected) {
  auto records = no_events(connection);
  records.reserve(suspected.size() * kBytesBesideBody);
  for (const auto& duplicate : suspected) add(records, *duplicate.delivery, 0, {}, {});
  return records;
}

}  // namespace hookgate
