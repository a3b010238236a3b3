#include "handlers/payments/sql_fact_book.h"

#include <algorithm>
#include <utility>

#include "domain/json.h"
#include "domain/time.h"

namespace hookgate {
namespace {

SqlValue amount_value(const Amount& amount) {
  return amount ? SqlValue{*amount} : SqlValue{nullptr};
}

SqlValue instant_value(const std::optional<std::int64_t>& microseconds) {
  if (!microseconds || *microseconds < 0) return nullptr;
  return format_instant(SystemTime{std::chrono::microseconds{*microseconds}});
}

SqlValue nullable(const std::string& text) {
  return text.empty() ? SqlValue{nullptr} : SqlValue{text};
}

// What a person is shown of a fact: the figures and word of its latest observation.
Observation latest(const Fact& fact) {
  const auto found = std::ranges::max_element(fact.observations, {}, [](const Observation& seen) {
    return std::pair{seen.at.value_or(0), seen};
  });
  return found == fact.observations.end() ? Observation{} : *found;
}

// Columns: kind, fact_id, parent, observations.
Fact fact_from(const SqlRow& row, std::size_t first) {
  Fact fact;
  fact.kind = row[first].value_or("");
  fact.id = row[first + 1].value_or("");
  fact.parent = row[first + 2].value_or("");
  fact.observations = parse_observations(row[first + 3].value_or("[]"));
  return fact;
}

std::string flags_of(const PaymentState& state) {
  std::string flags = state.needs_review ? "needs_review" : "";
  if (state.over_returned) flags += flags.empty() ? "over_returned" : ",over_returned";
  return "{" + flags + "}";
}

std::string milestones_json(const Milestones& milestones) {
  std::string json = "[";
  for (const auto& [milestone, fact] : milestones) {
    if (json.size() > 1) json += ',';
    json += "[" + quote_json(milestone) + "," + quote_json(fact) + "]";
  }
  return json + "]";
}

}  // namespace

SqlFactBook::SqlFactBook(SqlTransaction& sql, std::string provider, std::string account,
                         std::int64_t event)
    : sql_(sql), provider_(std::move(provider)), account_(std::move(account)), event_(event) {}

constexpr auto kFindFact = R"sql(
  SELECT payment_id, kind, fact_id, parent, observations
    FROM hookgate.payment_facts
   WHERE provider = $1 AND account = $2 AND kind = $3 AND fact_id = $4
)sql";

std::optional<FactUpdate> SqlFactBook::find(std::string_view kind, const std::string& id) {
  const auto result = sql_.execute(kFindFact, {provider_, account_, std::string{kind}, id});
  if (result.rows.empty()) return std::nullopt;
  const auto& row = result.rows.front();
  return FactUpdate{row[0].value_or(""), fact_from(row, 1)};
}

constexpr auto kPutFact = R"sql(
  INSERT INTO hookgate.payment_facts
         (provider, account, kind, fact_id, payment_id, parent,
          amount, currency, state, occurred_at, observations, first_event)
  VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8, $9, $10::timestamptz, $11, $12::bigint)
      ON CONFLICT (provider, account, kind, fact_id) DO UPDATE
     SET payment_id = excluded.payment_id, parent = excluded.parent,
         amount = excluded.amount, currency = excluded.currency, state = excluded.state,
         occurred_at = excluded.occurred_at, observations = excluded.observations
)sql";

void SqlFactBook::put(const FactUpdate& entry) {
  const auto& fact = entry.fact;
  const auto shown = latest(fact);
  const auto state = shown.status.empty() ? shown.code : shown.code + " " + shown.status;
  sql_.execute(kPutFact, {provider_, account_, fact.kind, fact.id, nullable(entry.payment),
                          nullable(fact.parent), amount_value(shown.amount), shown.currency, state,
                          instant_value(shown.at), observations_json(fact.observations), event_});
}

constexpr auto kFactsOf = R"sql(
  SELECT kind, fact_id, parent, observations
    FROM hookgate.payment_facts
   WHERE provider = $1 AND account = $2 AND payment_id = $3
   ORDER BY kind, fact_id
)sql";

std::vector<Fact> SqlFactBook::facts_of(const std::string& payment) {
  const auto result = sql_.execute(kFactsOf, {provider_, account_, payment});
  std::vector<Fact> facts;
  for (const auto& row : result.rows) facts.push_back(fact_from(row, 0));
  return facts;
}

constexpr auto kHasPayment = R"sql(
  SELECT 1
    FROM hookgate.payment_facts
   WHERE provider = $1 AND account = $2 AND payment_id = $3
   LIMIT 1
)sql";

bool SqlFactBook::has_payment(const std::string& payment) {
  return !sql_.execute(kHasPayment, {provider_, account_, payment}).rows.empty();
}

constexpr auto kPaymentOfCharge = R"sql(
  SELECT payment_id
    FROM (SELECT payment_id
            FROM hookgate.payment_facts
           WHERE provider = $1 AND account = $2 AND kind = 'charge' AND fact_id = $3
           UNION
          SELECT payment_id
            FROM hookgate.payment_facts
           WHERE provider = $1 AND account = $2 AND parent = $3) AS known
   WHERE payment_id IS NOT NULL
   ORDER BY payment_id = $3, payment_id COLLATE "C"
   LIMIT 1
)sql";

std::string SqlFactBook::payment_of_charge(const std::string& charge) {
  const auto result = sql_.execute(kPaymentOfCharge, {provider_, account_, charge});
  return result.rows.empty() ? "" : result.rows.front()[0].value_or("");
}

constexpr auto kAdoptByCharge = R"sql(
  UPDATE hookgate.payment_facts
     SET payment_id = $4
   WHERE provider = $1 AND account = $2 AND parent = $3 AND payment_id IS NULL
)sql";

void SqlFactBook::adopt_by_charge(const std::string& charge, const std::string& payment) {
  sql_.execute(kAdoptByCharge, {provider_, account_, charge, payment});
}

constexpr auto kAdoptDispute = R"sql(
  UPDATE hookgate.payment_facts
     SET payment_id = $3
   WHERE provider = $1 AND account = $2 AND kind = 'dispute' AND fact_id = $3
     AND parent IS NULL AND payment_id IS NULL
)sql";

void SqlFactBook::adopt_dispute(const std::string& payment) {
  sql_.execute(kAdoptDispute, {provider_, account_, payment});
}

constexpr auto kMoveFacts = R"sql(
  UPDATE hookgate.payment_facts
     SET payment_id = $4
   WHERE provider = $1 AND account = $2 AND payment_id = $3
)sql";

// A milestone of the payment as a whole carries its id as the fact.
constexpr auto kMoveMilestones = R"sql(
  WITH moved AS (
    DELETE FROM hookgate.payment_milestones
     WHERE provider = $1 AND account = $2 AND payment_id = $3
    RETURNING milestone, fact_id, reached_at
  )
  INSERT INTO hookgate.payment_milestones
         (provider, account, payment_id, milestone, fact_id, reached_at)
  SELECT $1, $2, $4, milestone, CASE fact_id WHEN $3 THEN $4 ELSE fact_id END, reached_at
    FROM moved
      ON CONFLICT DO NOTHING
)sql";

void SqlFactBook::move_facts(const std::string& from, const std::string& to) {
  sql_.execute(kMoveFacts, {provider_, account_, from, to});
  sql_.execute(kMoveMilestones, {provider_, account_, from, to});
}

void SqlFactBook::lock(const std::string& name) {
  sql_.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", {name});
}

constexpr auto kStandingOf = R"sql(
  SELECT reference, is_live
    FROM hookgate.payments
   WHERE provider = $1 AND account = $2 AND payment_id = $3
)sql";

Standing SqlFactBook::standing_of(const std::string& payment) {
  const auto result = sql_.execute(kStandingOf, {provider_, account_, payment});
  if (result.rows.empty()) return {};
  const auto& row = result.rows.front();
  return {row[0].value_or(""), row[1] == "t"};
}

// The flag duplicate_payment is what other payments say of this one: it stays until
// flag_duplicates has asked them.
constexpr auto kWritePayment = R"sql(
  INSERT INTO hookgate.payments AS p
         (provider, account, payment_id, reference, status, currency,
          amount_authorized, amount_captured, amount_refunded, amount_disputed,
          flags, first_event_at, last_event_at, is_live)
  VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8::bigint, $9::bigint, $10::bigint,
          $11::text[], $12::timestamptz, $13::timestamptz, $14::boolean)
      ON CONFLICT (provider, account, payment_id) DO UPDATE
     SET reference = excluded.reference, status = excluded.status, currency = excluded.currency,
         amount_authorized = excluded.amount_authorized,
         amount_captured = excluded.amount_captured,
         amount_refunded = excluded.amount_refunded,
         amount_disputed = excluded.amount_disputed,
         flags = CASE WHEN 'duplicate_payment' = ANY (p.flags)
                      THEN array_append(excluded.flags, 'duplicate_payment')
                      ELSE excluded.flags END,
         first_event_at = excluded.first_event_at, last_event_at = excluded.last_event_at,
         is_live = excluded.is_live
)sql";

constexpr auto kReachMilestones = R"sql(
  INSERT INTO hookgate.payment_milestones (provider, account, payment_id, milestone, fact_id)
  SELECT $1, $2, $3, m ->> 0, m ->> 1
    FROM jsonb_array_elements($4::jsonb) AS t (m)
      ON CONFLICT DO NOTHING
)sql";

void SqlFactBook::write_payment(const std::string& payment, const PaymentState& state) {
  sql_.execute(
      kWritePayment,
      {provider_, account_, payment, state.reference, state.status, state.currency,
       amount_value(state.authorized), amount_value(state.captured), amount_value(state.refunded),
       amount_value(state.disputed), flags_of(state), instant_value(state.first_event_at),
       instant_value(state.last_event_at), state.is_live()});
  if (state.milestones.empty()) return;
  sql_.execute(kReachMilestones, {provider_, account_, payment, milestones_json(state.milestones)});
}

constexpr auto kRemovePayment = R"sql(
  DELETE FROM hookgate.payments
   WHERE provider = $1 AND account = $2 AND payment_id = $3
)sql";

void SqlFactBook::remove_payment(const std::string& payment) {
  sql_.execute(kRemovePayment, {provider_, account_, payment});
}

constexpr auto kFlagDuplicates = R"sql(
  WITH wanted AS (
    SELECT payment_id, is_live AND count(*) FILTER (WHERE is_live) OVER () > 1 AS is_duplicate
      FROM hookgate.payments
     WHERE provider = $1 AND account = $2 AND reference = $3
  )
  UPDATE hookgate.payments p
     SET flags = CASE WHEN w.is_duplicate THEN array_append(p.flags, 'duplicate_payment')
                      ELSE array_remove(p.flags, 'duplicate_payment') END
    FROM wanted w
   WHERE p.provider = $1 AND p.account = $2 AND p.payment_id = w.payment_id
     AND w.is_duplicate <> ('duplicate_payment' = ANY (p.flags))
)sql";

void SqlFactBook::flag_duplicates(const std::string& reference) {
  sql_.execute(kFlagDuplicates, {provider_, account_, reference});
}

}  // namespace hookgate
