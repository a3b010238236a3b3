#include "store/backlog.h"

#include <pqxx/pqxx>

#include "store/error_translation.h"

namespace hookgate {
namespace {

// The ORDER BY is that of the index, so that nothing is sorted and the scan ends at the LIMIT. The
// index goes by source, so `waiting` hops from one source to the next to find the oldest of each.
// reltuples is -1 before the first VACUUM or ANALYZE. A destination's messages follow one another
// in their index.
constexpr auto kBacklog = R"sql(
  WITH RECURSIVE waiting (source) AS (
    (SELECT source
       FROM hookgate.events
      WHERE status = 'pending' AND claim_token IS NULL
      ORDER BY source, due_at, id
      LIMIT 1)
    UNION ALL
    SELECT (SELECT e.source
              FROM hookgate.events e
             WHERE e.status = 'pending' AND e.claim_token IS NULL AND e.source > waiting.source
             ORDER BY e.source, e.due_at, e.id
             LIMIT 1)
      FROM waiting
     WHERE waiting.source IS NOT NULL
  )
  SELECT CASE WHEN p.events < 100000 THEN p.events ELSE greatest(p.events, e.pending) END,
         coalesce(greatest(extract(epoch FROM now() - p.oldest), 0), 0)::double precision,
         CASE WHEN d.events < 100000 THEN d.events ELSE greatest(d.events, e.dead) END,
         CASE WHEN o.messages < 100000 THEN o.messages ELSE greatest(o.messages, e.outgoing) END
    FROM (SELECT (SELECT count(*)
                    FROM (SELECT id
                            FROM hookgate.events
                           WHERE status = 'pending' AND claim_token IS NULL
                           ORDER BY source, due_at, id
                           LIMIT 100000) AS due)
                 + (SELECT count(*)
                      FROM (SELECT id
                              FROM hookgate.events
                             WHERE status = 'pending' AND claim_token IS NOT NULL
                             ORDER BY due_at, id
                             LIMIT 100000) AS held) AS events,
                 least((SELECT min(received_at)
                          FROM (SELECT e.received_at
                                  FROM waiting
                                 CROSS JOIN LATERAL (
                                   SELECT received_at
                                     FROM hookgate.events
                                    WHERE status = 'pending' AND claim_token IS NULL
                                      AND source = waiting.source
                                    ORDER BY due_at, id
                                    LIMIT 10000) AS e
                                 LIMIT 100000) AS first),
                       (SELECT min(received_at)
                          FROM (SELECT received_at
                                  FROM hookgate.events
                                 WHERE status = 'pending' AND claim_token IS NOT NULL
                                 ORDER BY due_at, id
                                 LIMIT 10000) AS held)) AS oldest) AS p,
         (SELECT count(*) AS events
            FROM (SELECT id
                    FROM hookgate.events
                   WHERE status = 'dead'
                   ORDER BY id
                   LIMIT 100000) AS given_up) AS d,
         (SELECT count(*) AS messages
            FROM (SELECT id
                    FROM hookgate.outbox
                   WHERE status = 'pending'
                   ORDER BY destination, due_at, id
                   LIMIT 100000) AS unsent) AS o,
         (SELECT max(reltuples) FILTER (WHERE oid = 'hookgate.events_waiting'::regclass)::bigint AS pending,
                 max(reltuples) FILTER (WHERE oid = 'hookgate.events_dead'::regclass)::bigint AS dead,
                 max(reltuples) FILTER (WHERE oid = 'hookgate.outbox_waiting'::regclass)::bigint AS outgoing
            FROM pg_class
           WHERE oid IN ('hookgate.events_waiting'::regclass, 'hookgate.events_dead'::regclass,
                         'hookgate.outbox_waiting'::regclass)) AS e
)sql";

}  // namespace

Metrics::Backlog read_backlog(Connection& connection) {
  Metrics::Backlog backlog;
  translate_errors([&] {
    connection.prepare_once("read_backlog", kBacklog);
    pqxx::nontransaction transaction{connection.raw()};
    const auto rows = transaction.exec_prepared("read_backlog");
    const auto& row = rows[0];
    backlog.events_pending = row[0].as<std::size_t>();
    backlog.oldest_pending_seconds = row[1].as<double>();
    backlog.events_dead = row[2].as<std::size_t>();
    backlog.outbox_pending = row[3].as<std::size_t>();
  });
  return backlog;
}

}  // namespace hookgate
