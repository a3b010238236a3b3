#include "store/event_control.h"

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <string_view>

#include <pqxx/pqxx>

#include "store/error_translation.h"
#include "store/sql_session.h"

namespace hookgate {
namespace {

// Of one transaction: short enough that a worker never waits long for a row.
constexpr std::size_t kBatchEvents = 1'000;
// Of a batch that met a worker the other way round (deadlock).
constexpr int kTransientRetriesMax = 5;
constexpr std::string_view kRunning = "is being run at the moment";

// What a retry keeps of `finished`: the names of handlers that succeeded. The marks at the end of a
// name are those of worker/handler_progress.
constexpr auto kRetry = R"sql(
  UPDATE hookgate.events e
     SET status = 'pending', due_at = now(), done_at = NULL, failures = 0, crashes = 0,
         finished = coalesce((SELECT string_agg(name, ',' ORDER BY place)
                                FROM unnest(string_to_array(e.finished, ','))
                                     WITH ORDINALITY AS names (name, place)
                               WHERE name !~ '%again%$'), '')
)sql";

constexpr auto kDiscard = R"sql(
  UPDATE hookgate.events e
     SET status = 'discarded', claim_token = NULL
)sql";

// A state to take events from, as a condition: literal, so that its partial index can be used.
struct Origin {
  std::string_view status;
  std::string_view condition;
};
constexpr Origin kDead{"dead", "status = 'dead'"};
constexpr Origin kDiscarded{"discarded", "status = 'discarded'"};
constexpr Origin kDone{"done", "status = 'done'"};
constexpr Origin kIgnored{"ignored", "status = 'ignored'"};
constexpr Origin kPending{"pending", "status = 'pending'"};
constexpr Origin kUnheld{"pending", "status = 'pending' AND claim_token IS NULL"};

// A change of events: what it sets, and the states it may start from.
struct Change {
  std::string update;
  std::vector<Origin> origins;  // those taken by id
  std::vector<Origin> swept;    // those taken by a filter that names no state
  bool dry_run = false;
};

const Origin* find_origin(const std::vector<Origin>& origins, std::string_view status) {
  const auto found = std::ranges::find(origins, status, &Origin::status);
  return found == origins.end() ? nullptr : &*found;
}

// One round over the events of one state, from id `after` on.
struct Round {
  std::string condition;
  std::vector<SqlValue> parameters;
  std::int64_t after = 0;
  std::size_t limit = kBatchEvents;
};

std::vector<std::int64_t> change_once(Connection& connection, const Change& change,
                                      const Round& round) {
  auto parameters = round.parameters;
  const auto number = [&](std::int64_t value) {
    parameters.emplace_back(value);
    return "$" + std::to_string(parameters.size()) + "::bigint";
  };
  const auto statement = "WITH chosen AS (SELECT id FROM hookgate.events WHERE " + round.condition +
                         " AND id > " + number(round.after) + " ORDER BY id LIMIT " +
                         number(static_cast<std::int64_t>(round.limit)) + " FOR NO KEY UPDATE) " +
                         change.update + " FROM chosen WHERE e.id = chosen.id RETURNING e.id";
  std::vector<std::int64_t> ids;
  translate_errors([&] {
    pqxx::work transaction{connection.raw()};
    SqlSession session{connection, transaction};
    const auto rows = session.execute(statement, std::span<const SqlValue>{parameters}).rows;
    for (const auto& row : rows) ids.push_back(std::stoll(*row[0]));
    if (!ids.empty()) transaction.exec("SELECT pg_notify('hookgate_events', '')");
    transaction.commit();
  });
  std::ranges::sort(ids);
  return ids;
}

std::vector<std::int64_t> change_batch(Connection& connection, const Change& change,
                                       const Round& round) {
  for (int attempt = 0;; ++attempt) {
    try {
      return change_once(connection, change, round);
    } catch (const SqlError& error) {
      if (!error.is_transient() || attempt >= kTransientRetriesMax) throw;
    }
  }
}

std::size_t count(Connection& connection, const Round& round) {
  auto parameters = round.parameters;
  parameters.emplace_back(static_cast<std::int64_t>(round.limit));
  std::size_t events = 0;
  translate_errors([&] {
    pqxx::nontransaction transaction{connection.raw()};
    SqlSession session{connection, transaction};
    const auto result = session.execute(
        "SELECT count(*) FROM (SELECT 1 FROM hookgate.events WHERE " + round.condition +
            " LIMIT $" + std::to_string(parameters.size()) + "::bigint) AS matching",
        std::span<const SqlValue>{parameters});
    events = std::stoull(*result.rows.at(0).at(0));
  });
  return events;
}

Round round_of(const EventFilter& filter, const Origin& origin) {
  auto narrowed = filter;
  narrowed.status.reset();
  Round round;
  round.condition = std::string{origin.condition};
  const auto more = event_conditions(narrowed, round.parameters);
  if (!more.empty()) round.condition += " AND " + more;
  return round;
}

// Changes, or counts, at most `limit` events of one state.
std::size_t sweep(Connection& connection, const Change& change, Round round, std::size_t limit) {
  if (change.dry_run) {
    round.limit = limit;
    return count(connection, round);
  }
  std::size_t changed = 0;
  while (changed < limit) {
    round.limit = std::min(kBatchEvents, limit - changed);
    const auto ids = change_batch(connection, change, round);
    changed += ids.size();
    if (ids.size() < round.limit) break;
    round.after = ids.back();
  }
  return changed;
}

// Its state now: it may have changed since it was found.
std::string refusal(Connection& connection, const Change& change, const EventRow& event) {
  for (const auto& now : find_events(connection, std::to_string(event.id))) {
    if (now.id != event.id) continue;
    if (find_origin(change.origins, now.status) != nullptr) return std::string{kRunning};
    return "is " + now.status;
  }
  return "is gone";
}

// Does it for one event; false when its state does not allow it.
bool change_one(Connection& connection, const Change& change, const EventRow& event) {
  const auto* const origin = find_origin(change.origins, event.status);
  if (origin == nullptr) return false;
  Round round;
  round.condition = std::string{origin->condition} + " AND id = $1::bigint";
  round.parameters.emplace_back(event.id);
  return sweep(connection, change, round, 1) == 1;
}

bool takes(const EventFilter& filter, Connection& connection, std::int64_t id) {
  Round round;
  round.condition = "id = $1::bigint";
  round.parameters.emplace_back(id);
  const auto more = event_conditions(filter, round.parameters);
  if (!more.empty()) round.condition += " AND " + more;
  round.limit = 1;
  return count(connection, round) == 1;
}

ControlResult change_named(Connection& connection, const Change& change,
                           const EventSelection& selection) {
  ControlResult result;
  std::set<std::int64_t> seen;
  for (const auto& id : selection.ids) {
    auto events = find_events(connection, id);
    std::erase_if(events, [&](const EventRow& event) {
      return !takes(selection.filter, connection, event.id);
    });
    if (events.empty()) result.unknown_ids.push_back(id);
    for (const auto& event : events) {
      if (!seen.insert(event.id).second) continue;
      if (change_one(connection, change, event)) {
        ++result.events;
      } else {
        result.refused.push_back(
            {event.id, event.source, event.event_id, refusal(connection, change, event)});
      }
    }
  }
  return result;
}

ControlResult apply(Connection& connection, const Change& change, const EventSelection& selection) {
  const auto& filter = selection.filter;
  if (filter.status && find_origin(change.origins, *filter.status) == nullptr)
    throw std::invalid_argument("events that are " + *filter.status + " cannot be taken");
  if (!selection.ids.empty()) return change_named(connection, change, selection);
  auto origins = change.swept;
  if (filter.status) origins = {*find_origin(change.origins, *filter.status)};
  ControlResult result;
  for (const auto& origin : origins) {
    result.events +=
        sweep(connection, change, round_of(filter, origin), filter.limit - result.events);
  }
  return result;
}

}  // namespace

ControlResult retry_events(Connection& connection, const EventSelection& selection,
                           const RetryOptions& options) {
  Change change;
  change.update = kRetry;
  const std::string_view mark = "%again%";
  change.update.replace(change.update.find(mark), mark.size(), options.force ? "[!?]" : "!");
  change.origins = {kDead, kDiscarded, kUnheld};
  if (options.force) change.origins.insert(change.origins.end(), {kDone, kIgnored});
  change.swept = {kDead};
  change.dry_run = options.dry_run;
  return apply(connection, change, selection);
}

ControlResult discard_events(Connection& connection, const EventSelection& selection,
                             bool dry_run) {
  return apply(connection, {kDiscard, {kDead, kPending}, {kDead, kPending}, dry_run}, selection);
}

}  // namespace hookgate
