#include "store/retention.h"

#include <pqxx/pqxx>

#include "store/binary_array.h"
#include "store/error_translation.h"
#include "store/outbox_store.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

// One constant for all gateways: only one makes or drops partitions at a time.
constexpr std::int64_t kPartitionLock = 0x686f6f6b70617274;  // "hookpart"

constexpr auto kOldDays = R"sql(
  SELECT c.relname, substring(c.relname FROM '[0-9]{8}$')::date
    FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = 'hookgate.event_bodies'::regclass
     AND c.relname ~ '^event_bodies_[0-9]{8}$'
     AND substring(c.relname FROM '[0-9]{8}$')::date < ($1::timestamptz[])[1]::date
   ORDER BY 2
)sql";

// Bytes of what still waits or failed stay: without them nobody could finish it.
constexpr auto kDeleteSettledBodies = R"sql(
  DELETE FROM hookgate.event_bodies b
   WHERE b.day < ($1::timestamptz[])[1]::date
     AND NOT EXISTS (SELECT 1 FROM hookgate.events e
                      WHERE e.id = b.event AND e.status IN ('pending', 'dead'))
)sql";

constexpr auto kDeleteKeys = R"sql(
  WITH old AS (
    SELECT e.id
      FROM hookgate.events e
     WHERE e.source = $1 AND e.status IN ('done', 'ignored', 'discarded')
       AND e.last_seen_at < ($2::timestamptz[])[1]
     LIMIT $3
       FOR UPDATE SKIP LOCKED
  )
  , answers AS (
    DELETE FROM hookgate.answers a USING old WHERE a.event = old.id
  )
  DELETE FROM hookgate.events e
   USING old
   WHERE e.id = old.id AND e.last_seen_at < ($2::timestamptz[])[1]
)sql";

pqxx::binarystring instant(SystemTime at) {
  auto array = BinaryArray::of_timestamptz();
  array.add(at);
  return pqxx::binarystring(array.finish());
}

std::string day_text(std::chrono::sys_days day) {
  return format_instant(SystemTime{day}).substr(0, 10);
}

std::string partition_name(const std::string& day) {
  return "event_bodies_" + day.substr(0, 4) + day.substr(5, 2) + day.substr(8, 2);
}

void ensure_partition(pqxx::connection_base& connection, std::chrono::sys_days day) {
  const auto from = day_text(day);
  const auto name = partition_name(from);
  pqxx::work transaction{connection};
  transaction.exec("SELECT pg_advisory_xact_lock(" + std::to_string(kPartitionLock) + ")");
  const auto missing =
      transaction.exec1("SELECT to_regclass('hookgate." + name +
                        "') IS NULL AND NOT EXISTS "
                        "(SELECT 1 FROM hookgate.event_bodies_other WHERE day = '" +
                        from + "')");
  if (!missing[0].as<bool>()) return;
  transaction.exec("CREATE TABLE hookgate." + name +
                   " PARTITION OF hookgate.event_bodies FOR VALUES FROM ('" + from + "') TO ('" +
                   day_text(day + std::chrono::days{1}) + "')");
  transaction.commit();
}

// Drops whole days; those with bytes that are still needed are thinned out instead.
std::size_t drop_old_days(pqxx::connection_base& connection, SystemTime before) {
  std::vector<std::string> names;
  {
    pqxx::nontransaction transaction{connection};
    for (const auto& row : transaction.exec_params(kOldDays, instant(before))) {
      names.emplace_back(row[0].c_str());
    }
  }
  std::size_t dropped = 0;
  for (const auto& name : names) {
    pqxx::work transaction{connection};
    transaction.exec("SELECT pg_advisory_xact_lock(" + std::to_string(kPartitionLock) + ")");
    const auto needed = transaction.exec1("SELECT EXISTS (SELECT 1 FROM hookgate." + name +
                                          " b JOIN hookgate.events e ON e.id = b.event "
                                          "WHERE e.status IN ('pending', 'dead'))");
    if (needed[0].as<bool>()) continue;
    transaction.exec("DROP TABLE hookgate." + name);
    transaction.commit();
    ++dropped;
  }
  return dropped;
}

}  // namespace

void ensure_body_partitions(Connection& connection, SystemTime today, int days_ahead) {
  translate_errors([&] {
    const auto first = std::chrono::floor<std::chrono::days>(today);
    for (int i = 0; i <= days_ahead; ++i)
      ensure_partition(connection.raw(), first + std::chrono::days{i});
  });
}

PruneResult prune(Connection& connection, SystemTime now, std::chrono::hours bodies,
                  std::span<const KeyRetention> keys, std::size_t events_max) {
  PruneResult result;
  translate_errors([&] {
    const auto before = now - bodies;
    result.days_dropped = drop_old_days(connection.raw(), before);
    pqxx::nontransaction transaction{connection.raw()};
    result.bodies_deleted =
        transaction.exec_params(kDeleteSettledBodies, instant(before)).affected_rows();
    for (const auto* table : {"conflicts", "revisions"}) {
      result.bodies_deleted += transaction
                                   .exec_params(std::string{"DELETE FROM hookgate."} + table +
                                                    " WHERE received_at < ($1::timestamptz[])[1]",
                                                instant(before))
                                   .affected_rows();
    }
    for (const auto& key : keys) {
      if (result.events_deleted >= events_max) break;
      result.events_deleted +=
          transaction.exec_params(kDeleteKeys, key.source, instant(now - key.retain), events_max)
              .affected_rows();
    }
  });
  result.messages_deleted = prune_outbox(connection, now - bodies);
  return result;
}

}  // namespace hookgate
