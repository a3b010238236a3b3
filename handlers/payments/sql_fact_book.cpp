#include "handlers/payments/sql_fact_book.h"

#include <algorithm>

#include "domain/text.h"
#include "domain/time.h"

namespace hookgate {
namespace {

SqlValue amount_value(const Amount& amount) {
  return amount ? SqlValue{*amount} : SqlValue{nullptr};
}

// PostgreSQL's timestamptz ends in the year 294276; what is outside is no date anybody means.
SqlValue instant_value(const std::optional<std::int64_t>& unix_time) {
  constexpr std::int64_t kYear9999 = 253'402'300'799;
  if (!unix_time || *unix_time < 0 || *unix_time > kYear9999) return nullptr;
  return format_instant(SystemTime{std::chrono::seconds{*unix_time}});
}

SqlValue nullable(const std::string& text) {
  return text.empty() ? SqlValue{nullptr} : SqlValue{text};
}

// What a person is shown of a fact: the figures and word of its latest observation.
const Observation& latest(const Fact& fact) {
  return *std::ranges::max_element(fact.observations, {}, [](const Observation& seen) {
    return std::pair{seen.at.value_or(0), seen};
  });
}

Fact fact_from(const std::optional<std::string>& kind, const std::optional<std::string>& id,
               const std::optional<std::string>& parent,
               const std::optional<std::string>& observations) {
  Fact fact;
  fact.kind = kind.value_or("");
  fact.id = id.value_or("");
  fact.parent = parent.value_or("");
  fact.observations = parse_observations(observations.value_or("[]"));
  return fact;
}

}  // namespace

SqlFactBook::SqlFactBook(SqlTransaction& sql, std::string provider, std::string account)
    : sql_(sql), provider_(std::move(provider)), account_(std::move(account)) {}

std::optional<FactUpdate> SqlFactBook::find(std::string_view kind, const std::string& id) {
  const auto result = sql_.execute(
      "SELECT payment_id, kind, fact_id, parent, observations FROM hookgate.payment_facts "
      "WHERE provider = $1 AND account = $2 AND kind = $3 AND fact_id = $4",
      {provider_, account_, std::string{kind}, id});
  if (result.rows.empty()) return std::nullopt;
  const auto& row = result.rows.front();
  return FactUpdate{row[0].value_or(""), fact_from(row[1], row[2], row[3], row[4])};
}

void SqlFactBook::put(const FactUpdate& entry) {
  const auto& fact = entry.fact;
  static const Observation kNothing{};
  const auto& shown = fact.observations.empty() ? kNothing : latest(fact);
  sql_.execute(
      "INSERT INTO hookgate.payment_facts (provider, account, kind, fact_id, payment_id, parent, "
      "amount, currency, "
      "state, occurred_at, observations) VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8, $9, "
      "$10::timestamptz, $11) "
      "ON CONFLICT (provider, account, kind, fact_id) DO UPDATE SET payment_id = "
      "excluded.payment_id, "
      "parent = excluded.parent, amount = excluded.amount, currency = excluded.currency, state = "
      "excluded.state, "
      "occurred_at = excluded.occurred_at, observations = excluded.observations",
      {provider_, account_, fact.kind, fact.id, nullable(entry.payment), nullable(fact.parent),
       amount_value(shown.amount), shown.currency,
       shown.status.empty() ? shown.code : shown.code + " " + shown.status, instant_value(shown.at),
       observations_json(fact.observations)});
}

std::vector<Fact> SqlFactBook::facts_of(const std::string& payment) {
  const auto result = sql_.execute(
      "SELECT kind, fact_id, parent, observations FROM hookgate.payment_facts "
      "WHERE provider = $1 AND account = $2 AND payment_id = $3 ORDER BY kind, fact_id",
      {provider_, account_, payment});
  std::vector<Fact> facts;
  for (const auto& row : result.rows) facts.push_back(fact_from(row[0], row[1], row[2], row[3]));
  return facts;
}

bool SqlFactBook::has_payment(const std::string& payment) {
  return !sql_.execute(
                  "SELECT 1 FROM hookgate.payment_facts WHERE provider = $1 AND account = $2 AND "
                  "payment_id = $3 "
                  "LIMIT 1",
                  {provider_, account_, payment})
              .rows.empty();
}

std::string SqlFactBook::payment_of_charge(const std::string& charge) {
  const auto result = sql_.execute(
      "SELECT payment_id FROM (SELECT payment_id FROM hookgate.payment_facts WHERE provider = $1 "
      "AND account = $2 "
      "AND kind = 'charge' AND fact_id = $3 UNION SELECT payment_id FROM hookgate.payment_facts "
      "WHERE provider = $1 "
      "AND account = $2 AND parent = $3) AS known WHERE payment_id IS NOT NULL ORDER BY payment_id "
      "= $3, payment_id LIMIT 1",
      {provider_, account_, charge});
  return result.rows.empty() ? "" : result.rows.front()[0].value_or("");
}

void SqlFactBook::adopt_by_charge(const std::string& charge, const std::string& payment) {
  sql_.execute(
      "UPDATE hookgate.payment_facts SET payment_id = $4 WHERE provider = $1 AND account = $2 AND "
      "parent = $3 "
      "AND payment_id IS NULL",
      {provider_, account_, charge, payment});
}

void SqlFactBook::adopt_dispute(const std::string& payment) {
  sql_.execute(
      "UPDATE hookgate.payment_facts SET payment_id = $3 WHERE provider = $1 AND account = $2 "
      "AND kind = 'dispute' AND fact_id = $3 AND parent IS NULL AND payment_id IS NULL",
      {provider_, account_, payment});
}

void SqlFactBook::move_facts(const std::string& from, const std::string& to) {
  sql_.execute(
      "UPDATE hookgate.payment_facts SET payment_id = $4 WHERE provider = $1 AND account = $2 AND "
      "payment_id = $3",
      {provider_, account_, from, to});
}

void SqlFactBook::lock(const std::string& name) {
  sql_.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", {name});
}

std::string SqlFactBook::reference_of(const std::string& payment) {
  const auto result = sql_.execute(
      "SELECT reference FROM hookgate.payments WHERE provider = $1 AND account = $2 AND payment_id "
      "= $3",
      {provider_, account_, payment});
  return result.rows.empty() ? "" : result.rows.front()[0].value_or("");
}

void SqlFactBook::write_payment(const std::string& payment, const PaymentState& state) {
  std::string flags = "{";
  if (state.needs_review) flags += "needs_review";
  if (state.over_returned) flags += flags.size() > 1 ? ",over_returned" : "over_returned";
  flags += "}";
  sql_.execute(
      "INSERT INTO hookgate.payments AS p (provider, account, payment_id, reference, status, "
      "currency, amount_authorized, "
      "amount_captured, amount_refunded, amount_disputed, flags, first_event_at, last_event_at, "
      "is_live) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8::bigint, $9::bigint, $10::bigint, "
      "$11::text[], $12::timestamptz, "
      "$13::timestamptz, $14::boolean) "
      "ON CONFLICT (provider, account, payment_id) DO UPDATE SET reference = excluded.reference, "
      "status = excluded.status, "
      "currency = excluded.currency, amount_authorized = excluded.amount_authorized, "
      "amount_captured = excluded.amount_captured, amount_refunded = excluded.amount_refunded, "
      "amount_disputed = excluded.amount_disputed, flags = excluded.flags, first_event_at = "
      "excluded.first_event_at, "
      "last_event_at = excluded.last_event_at, is_live = excluded.is_live",
      {provider_, account_, payment, state.reference, state.status, state.currency,
       amount_value(state.authorized), amount_value(state.captured), amount_value(state.refunded),
       amount_value(state.disputed), flags, instant_value(state.first_event_at),
       instant_value(state.last_event_at), state.is_live()});
  for (const auto& [milestone, fact] : state.milestones) {
    sql_.execute(
        "INSERT INTO hookgate.payment_milestones (provider, account, payment_id, milestone, "
        "fact_id) "
        "VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        {provider_, account_, payment, milestone, fact});
  }
}

void SqlFactBook::remove_payment(const std::string& payment) {
  sql_.execute(
      "DELETE FROM hookgate.payments WHERE provider = $1 AND account = $2 AND payment_id = $3",
      {provider_, account_, payment});
}

void SqlFactBook::flag_duplicates(const std::string& reference) {
  sql_.execute(
      "WITH wanted AS (SELECT payment_id, is_live AND count(*) FILTER (WHERE is_live) OVER () > 1 "
      "AS is_duplicate "
      "FROM hookgate.payments WHERE provider = $1 AND account = $2 AND reference = $3) "
      "UPDATE hookgate.payments p SET flags = CASE WHEN w.is_duplicate THEN array_append(p.flags, "
      "'duplicate_payment') "
      "ELSE array_remove(p.flags, 'duplicate_payment') END FROM wanted w WHERE p.provider = $1 AND "
      "p.account = $2 "
      "AND p.payment_id = w.payment_id AND w.is_duplicate <> ('duplicate_payment' = ANY (p.flags))",
      {provider_, account_, reference});
}

}  // namespace hookgate
