#include "store/event_store.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include <pqxx/pqxx>

#include "store/duplicates.h"
#include "store/error_translation.h"
#include "store/offered_events.h"

namespace hookgate {
namespace {

// What a row tells: either the id of a new event, or of a suspected duplicate what kSelectKnown
// has.
constexpr std::string_view kSelectStored = R"sql(
  SELECT NULL::bigint, id, NULL::boolean, NULL::boolean, NULL::boolean FROM stored)sql";

bool is_data_error(const SqlError& error) {
  return error.sqlstate().starts_with("22") || error.sqlstate().starts_with("23");
}

pqxx::result insert(Connection& connection, const pqxx::binarystring& events) {
  static const auto kStatement = std::string{kStoreOfferedParts} + std::string{kSelectStored};
  connection.prepare_once("insert_events", kStatement);
  pqxx::nontransaction transaction{connection.raw()};
  return transaction.exec_prepared("insert_events", events);
}

pqxx::result insert_and_count(Connection& connection, const pqxx::binarystring& events,
                              std::span<const Duplicate> suspected) {
  static const auto kStatement =
      std::string{kStoreOfferedParts} +
      ", suspected AS (SELECT * FROM unnest($2::hookgate.offered_event[]) WITH ORDINALITY), " +
      std::string{kCountKnownParts} + std::string{kSelectStored} + " UNION ALL " +
      std::string{kSelectKnown};
  connection.prepare_once("insert_and_count_events", kStatement);
  const pqxx::binarystring keys{suspected_duplicates(connection, suspected).finish()};
  pqxx::nontransaction transaction{connection.raw()};
  return transaction.exec_prepared("insert_and_count_events", events, keys);
}

}  // namespace

// Returns what of `fresh` made a new row; fills in what `suspected` are duplicates of. One
// statement, which commits itself: one more for the duplicates would cost the batch a second
// commit.
std::vector<bool> EventStore::offer(Connection& connection, Deliveries fresh,
                                    std::span<Duplicate> suspected) {
  std::vector<bool> is_new(fresh.size());
  translate_errors([&] {
    std::vector<std::int64_t> ids(fresh.size());
    for (auto& id : ids) id = ids_.next(connection);
    const pqxx::binarystring events{offered_events(connection, fresh, ids).finish()};
    const auto rows = suspected.empty() ? insert(connection, events)
                                        : insert_and_count(connection, events, suspected);
    for (const auto& row : rows) {
      if (!row[0].is_null()) {
        read_known(row, suspected);
        continue;
      }
      const auto found = std::ranges::lower_bound(ids, row[1].as<std::int64_t>());
      is_new[static_cast<std::size_t>(found - ids.begin())] = true;
    }
  });
  return is_new;
}

// Offers `fresh`, along with the first duplicates of `outcome`; on a data error halves the batch,
// so that one bad row fails alone.
void EventStore::offer_splitting(Connection& connection, Deliveries fresh,
                                 std::span<const std::size_t> positions, std::size_t suspected,
                                 Outcome& outcome) {
  try {
    const auto is_new = offer(connection, fresh, std::span{outcome.duplicates}.first(suspected));
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      if (is_new[i]) {
        outcome.results[positions[i]] = StoreResult::kAccepted;
      } else {
        outcome.duplicates.push_back({positions[i], fresh[i]});
      }
    }
  } catch (const SqlError& error) {
    if (!is_data_error(error))
      throw StoreUnavailable(std::string{"insert failed: "} + error.what());
    if (fresh.size() == 1) {
      outcome.results[positions[0]] = StoreResult::kFailed;
      return;
    }
    const auto half = fresh.size() / 2;
    offer_splitting(connection, fresh.first(half), positions.first(half), 0, outcome);
    offer_splitting(connection, fresh.subspan(half), positions.subspan(half), 0, outcome);
  }
}

bool EventStore::is_suspected(const Delivery& delivery) const {
  return recent_->has(delivery.request->source, delivery.event.scope, delivery.event.event_id);
}

void EventStore::remember(const Delivery& delivery) {
  recent_->add(delivery.request->source, delivery.event.scope, delivery.event.event_id);
}

std::vector<StoreResult> EventStore::record(Connection& connection,
                                            std::span<const Delivery> deliveries) {
  constexpr int kRoundsMax = 3;
  Outcome outcome{std::vector<StoreResult>(deliveries.size(), StoreResult::kFailed), {}};
  std::vector<std::size_t> open(deliveries.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  // A duplicate whose row was pruned between two statements is neither: it goes round again.
  for (int round = 0; round < kRoundsMax && !open.empty(); ++round) {
    std::vector<const Delivery*> fresh;
    std::vector<std::size_t> positions;
    outcome.duplicates.clear();
    for (const auto position : open) {
      const auto& delivery = deliveries[position];
      if (round == 0 && is_suspected(delivery)) {
        outcome.duplicates.push_back({position, &delivery});
      } else {
        fresh.push_back(&delivery);
        positions.push_back(position);
      }
    }
    if (!fresh.empty())
      offer_splitting(connection, fresh, positions, outcome.duplicates.size(), outcome);

    const auto judged = judge_duplicates(connection, outcome.duplicates);
    open.clear();
    for (std::size_t i = 0; i < judged.size(); ++i) {
      const auto position = outcome.duplicates[i].position;
      if (judged[i]) {
        outcome.results[position] = *judged[i];
      } else {
        open.push_back(position);
      }
    }
  }
  for (std::size_t i = 0; i < deliveries.size(); ++i) {
    if (outcome.results[i] != StoreResult::kFailed) remember(deliveries[i]);
  }
  return std::move(outcome.results);
}

void notify_events(Connection& connection) {
  translate_errors([&] {
    pqxx::nontransaction{connection.raw()}.exec("SELECT pg_notify('hookgate_events', '')");
  });
}

}  // namespace hookgate
