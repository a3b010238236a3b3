#include "store/event_reader.h"

#include <algorithm>

#include <pqxx/pqxx>

#include "store/error_translation.h"
#include "store/sql_session.h"

namespace hookgate {
namespace {

// Instants leave the database as RFC 3339 in UTC.
constexpr auto kColumns = R"sql(
  SELECT id, source, scope, event_id, event_type, subject, status, attempts, deliveries,
         to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
         to_char(received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         to_char(done_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         last_error
    FROM hookgate.events
)sql";

constexpr auto kBodies = R"sql(
  SELECT kind, to_char(received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), head, body, item
    FROM (
      SELECT 'first' AS kind, e.received_at, b.head, b.body, e.item, 0 AS rank, 0 AS id
        FROM hookgate.events e
        JOIN hookgate.event_bodies b
          ON b.day = (e.received_at AT TIME ZONE 'UTC')::date AND b.event = e.id
       WHERE e.id = $1
      UNION ALL
      SELECT 'revision', received_at, head, body, item, 1, id FROM hookgate.revisions WHERE event = $1
      UNION ALL
      SELECT 'conflict', received_at, head, body, item, 1, id FROM hookgate.conflicts WHERE event = $1
    ) AS versions
   ORDER BY rank, received_at, id
)sql";

EventRow event_row(const SqlRow& row) {
  EventRow event;
  event.id = std::stoll(*row[0]);
  event.source = *row[1];
  event.scope = *row[2];
  event.event_id = *row[3];
  event.event_type = *row[4];
  event.subject = *row[5];
  event.status = *row[6];
  event.attempts = std::stoi(*row[7]);
  event.deliveries = std::stoi(*row[8]);
  event.occurred_at = row[9];
  event.received_at = row[10];
  event.done_at = row[11];
  event.last_error = row[12];
  return event;
}

std::vector<EventRow> event_rows(Connection& connection, const std::string& statement,
                                 const std::vector<SqlValue>& parameters) {
  std::vector<EventRow> events;
  translate_errors([&] {
    pqxx::nontransaction transaction{connection.raw()};
    SqlSession session{connection, transaction};
    for (const auto& row : session.execute(statement, std::span<const SqlValue>{parameters}).rows) {
      events.push_back(event_row(row));
    }
  });
  return events;
}

// A LIKE pattern of a glob: everything but `*` stands for itself.
std::string like_pattern(const std::string& glob) {
  std::string pattern;
  for (const char c : glob) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c == '*' ? '%' : c;
  }
  return pattern;
}

}  // namespace

std::string event_conditions(const EventFilter& filter, std::vector<SqlValue>& parameters) {
  std::string conditions;
  const auto narrow = [&](const std::string& condition, SqlValue value) {
    parameters.push_back(std::move(value));
    conditions +=
        (conditions.empty() ? "" : " AND ") + condition + std::to_string(parameters.size());
  };
  if (filter.source) narrow("source = $", *filter.source);
  if (filter.type) narrow("event_type LIKE $", like_pattern(*filter.type));
  if (filter.subject) narrow("subject = $", *filter.subject);
  if (filter.status) narrow("status = $", *filter.status);
  if (filter.since) narrow("received_at >= $", format_instant(*filter.since));
  if (filter.until) narrow("received_at < $", format_instant(*filter.until));
  return conditions;
}

std::vector<EventRow> list_events(Connection& connection, const EventFilter& filter) {
  std::vector<SqlValue> parameters;
  auto where = event_conditions(filter, parameters);
  if (!where.empty()) where = " WHERE " + where;
  parameters.emplace_back(static_cast<std::int64_t>(filter.limit));
  return event_rows(connection,
                    kColumns + where + " ORDER BY received_at DESC, id DESC LIMIT $" +
                        std::to_string(parameters.size()) + "::bigint",
                    parameters);
}

std::vector<EventRow> find_events(Connection& connection, const std::string& id) {
  const bool is_number = !id.empty() && id.size() <= 18 &&
                         std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; });
  const auto own =
      is_number ? SqlValue{static_cast<std::int64_t>(std::stoll(id))} : SqlValue{nullptr};
  return event_rows(connection,
                    std::string{kColumns} + " WHERE id = $1::bigint OR event_id = $2 ORDER BY id",
                    {own, id});
}

std::vector<StoredBody> bodies_of(Connection& connection, std::int64_t event) {
  std::vector<StoredBody> bodies;
  translate_errors([&] {
    pqxx::nontransaction transaction{connection.raw()};
    for (const auto& row : transaction.exec_params(kBodies, event)) {
      bodies.push_back({row[0].c_str(), row[1].c_str(), pqxx::binarystring(row[2]).str(),
                        pqxx::binarystring(row[3]).str(), row[4].as<int>()});
    }
  });
  return bodies;
}

std::vector<EventCounts> count_events(Connection& connection) {
  std::vector<EventCounts> counts;
  translate_errors([&] {
    pqxx::nontransaction transaction{connection.raw()};
    for (const auto& row : transaction.exec("SELECT source, status, count(*), sum(deliveries) "
                                            "FROM hookgate.events GROUP BY 1, 2 ORDER BY 1, 2")) {
      counts.push_back(
          {row[0].c_str(), row[1].c_str(), row[2].as<std::int64_t>(), row[3].as<std::int64_t>()});
    }
  });
  return counts;
}

HandledCounts handled_once(Connection& connection) {
  HandledCounts counts;
  translate_errors([&] {
    pqxx::nontransaction transaction{connection.raw()};
    const auto row = transaction.exec1(
        "SELECT count(*) FILTER (WHERE status = 'done'), "
        "count(*) FILTER (WHERE status = 'done' AND attempts > 1 + versions) FROM hookgate.events");
    counts = {row[0].as<std::int64_t>(), row[1].as<std::int64_t>()};
  });
  return counts;
}

}  // namespace hookgate
