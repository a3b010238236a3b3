#include "store/outbox_admin.h"

#include <algorithm>

#include <pqxx/pqxx>

#include "store/error_translation.h"
#include "store/sql_session.h"

namespace hookgate {
namespace {

constexpr std::int64_t kBatchRows = 1'000;

constexpr auto kColumns = R"sql(
  SELECT id, destination, idempotency_key, status, subject, event_type, content_type, event, attempts,
         status = 'pending' AND claim_token IS NOT NULL AND due_at > now(), octet_length(body),
         to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         CASE WHEN status = 'pending' THEN to_char(due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END,
         to_char(sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         to_char(discarded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         last_error
    FROM hookgate.outbox
)sql";

// The claim's token goes, so that a sender that comes back late changes nothing.
constexpr auto kRetry = R"sql(
  UPDATE hookgate.outbox
     SET status = 'pending', attempts = 0, due_at = now(), claim_token = NULL, discarded_at = NULL
)sql";
constexpr auto kRetryable = R"sql(
   (status IN ('dead', 'discarded') OR (status = 'pending' AND (claim_token IS NULL OR due_at <= now())))
)sql";
constexpr auto kDiscard = R"sql(
  UPDATE hookgate.outbox
     SET status = 'discarded', claim_token = NULL, discarded_at = now()
)sql";
constexpr auto kDiscardable = "status IN ('dead', 'pending')";

// A message that is retried and dies again meanwhile is not taken twice: the ids only grow.
constexpr auto kDeadBatch = R"sql(
   WHERE id IN (SELECT id
                  FROM hookgate.outbox
                 WHERE status = 'dead' AND id > $1::bigint AND ($2::text IS NULL OR destination = $2)
                 ORDER BY id
                 LIMIT $3::bigint
                   FOR UPDATE SKIP LOCKED)
  RETURNING id
)sql";

MessageRow message_row(const SqlRow& row) {
  MessageRow message;
  message.id = std::stoll(*row[0]);
  message.destination = *row[1];
  message.idempotency_key = *row[2];
  message.status = *row[3];
  message.subject = *row[4];
  message.event_type = *row[5];
  message.content_type = *row[6];
  message.event = std::stoll(*row[7]);
  message.attempts = std::stoi(*row[8]);
  message.is_being_sent = *row[9] == "t";
  message.body_bytes = std::stoll(*row[10]);
  message.created_at = row[11];
  message.due_at = row[12];
  message.sent_at = row[13];
  message.discarded_at = row[14];
  message.last_error = row[15];
  return message;
}

SqlResult execute(Connection& connection, const std::string& statement,
                  const std::vector<SqlValue>& parameters) {
  SqlResult result;
  translate_errors([&] {
    pqxx::nontransaction transaction{connection.raw()};
    SqlSession session{connection, transaction};
    result = session.execute(statement, std::span<const SqlValue>{parameters});
  });
  return result;
}

std::vector<MessageRow> message_rows(const SqlResult& result) {
  std::vector<MessageRow> messages;
  messages.reserve(result.rows.size());
  for (const auto& row : result.rows) messages.push_back(message_row(row));
  return messages;
}

SqlValue text_or_null(const std::optional<std::string>& text) {
  return text ? SqlValue{*text} : SqlValue{nullptr};
}

const char* update_of(MessageChange change) {
  return change == MessageChange::kRetry ? kRetry : kDiscard;
}

}  // namespace

std::vector<MessageRow> list_messages(Connection& connection, const MessageFilter& filter) {
  const std::string where =
      std::string{filter.status ? " WHERE status = $1::text"
                                : " WHERE status IN ('pending', 'dead') AND $1::text IS NULL"} +
      " AND ($2::text IS NULL OR destination = $2) ORDER BY id DESC LIMIT $3::bigint";
  return message_rows(execute(connection, kColumns + where,
                              {text_or_null(filter.status), text_or_null(filter.destination),
                               static_cast<std::int64_t>(filter.limit)}));
}

std::optional<MessageRow> find_message(Connection& connection, std::int64_t id) {
  const auto messages =
      message_rows(execute(connection, std::string{kColumns} + " WHERE id = $1::bigint", {id}));
  return messages.empty() ? std::nullopt : std::optional{messages.front()};
}

bool can_change(MessageChange change, const MessageRow& message) {
  if (message.status == "dead") return true;
  if (change == MessageChange::kDiscard) return message.status == "pending";
  return message.status == "discarded" || (message.status == "pending" && !message.is_being_sent);
}

bool change_message(Connection& connection, MessageChange change, std::int64_t id) {
  const std::string allowed = change == MessageChange::kRetry ? kRetryable : kDiscardable;
  return execute(connection, update_of(change) + (" WHERE id = $1::bigint AND " + allowed), {id})
             .affected_rows == 1;
}

std::size_t count_dead(Connection& connection, const std::optional<std::string>& destination) {
  const auto result = execute(connection,
                              "SELECT count(*) FROM hookgate.outbox WHERE status = 'dead' AND "
                              "($1::text IS NULL OR destination = $1)",
                              {text_or_null(destination)});
  return std::stoull(*result.rows.at(0).at(0));
}

std::size_t change_dead(Connection& connection, MessageChange change,
                        const std::optional<std::string>& destination) {
  std::size_t changed = 0;
  std::int64_t last = 0;
  for (;;) {
    const auto result = execute(connection, update_of(change) + std::string{kDeadBatch},
                                {last, text_or_null(destination), kBatchRows});
    for (const auto& row : result.rows) last = std::max<std::int64_t>(last, std::stoll(*row[0]));
    changed += result.rows.size();
    if (result.rows.size() < static_cast<std::size_t>(kBatchRows)) return changed;
  }
}

}  // namespace hookgate
