#include "store/ledger_reader.h"

#include <pqxx/pqxx>

#include "store/error_translation.h"
#include "store/sql_session.h"

namespace hookgate {
namespace {

constexpr auto kPaymentColumns = R"sql(
  SELECT provider, account, payment_id, reference, status, currency,
         amount_authorized, amount_captured, amount_refunded, amount_disputed, array_to_string(flags, ','),
         to_char(first_event_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
         to_char(last_event_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    FROM hookgate.payments
)sql";

constexpr auto kFacts = R"sql(
  SELECT kind, fact_id, state, amount, currency,
         to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    FROM hookgate.payment_facts
   WHERE provider = $1 AND account = $2 AND payment_id = $3
   ORDER BY occurred_at NULLS FIRST, kind, fact_id
)sql";

SqlResult execute(Connection& connection, const std::string& statement,
                  const std::vector<SqlValue>& parameters) {
  SqlResult result;
  translate_errors([&] {
    pqxx::nontransaction transaction{connection.raw()};
    result = SqlSession{connection, transaction}.execute(statement,
                                                         std::span<const SqlValue>{parameters});
  });
  return result;
}

std::optional<std::int64_t> amount(const std::optional<std::string>& text) {
  return text ? std::optional{static_cast<std::int64_t>(std::stoll(*text))} : std::nullopt;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : text + ",") {
    if (c != ',') {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::exchange(part, {}));
    }
  }
  return parts;
}

std::vector<PaymentRow> payment_rows(const SqlResult& result) {
  std::vector<PaymentRow> payments;
  for (const auto& row : result.rows) {
    PaymentRow payment;
    payment.provider = *row[0];
    payment.account = *row[1];
    payment.payment_id = *row[2];
    payment.reference = row[3].value_or("");
    payment.status = *row[4];
    payment.currency = row[5].value_or("");
    payment.amount_authorized = amount(row[6]);
    payment.amount_captured = amount(row[7]);
    payment.amount_refunded = amount(row[8]);
    payment.amount_disputed = amount(row[9]);
    payment.flags = split(row[10].value_or(""));
    payment.first_event_at = row[11];
    payment.last_event_at = row[12];
    payments.push_back(std::move(payment));
  }
  return payments;
}

}  // namespace

std::vector<PaymentRow> list_payments(Connection& connection, const PaymentFilter& filter) {
  std::vector<SqlValue> parameters;
  std::string where;
  const auto narrow = [&](const std::string& condition, const std::optional<std::string>& value) {
    if (!value) return;
    parameters.emplace_back(*value);
    where +=
        (where.empty() ? " WHERE $" : " AND $") + std::to_string(parameters.size()) + condition;
  };
  narrow(" = provider", filter.provider);
  narrow(" = status", filter.status);
  narrow(" = reference", filter.reference);
  narrow(" = ANY (flags)", filter.flag);
  parameters.emplace_back(static_cast<std::int64_t>(filter.limit));
  return payment_rows(
      execute(connection,
              kPaymentColumns + where +
                  " ORDER BY last_event_at DESC NULLS LAST, provider, account, payment_id LIMIT $" +
                  std::to_string(parameters.size()) + "::bigint",
              parameters));
}

std::vector<PaymentRow> find_payments(Connection& connection, const std::string& payment_id) {
  return payment_rows(
      execute(connection,
              std::string{kPaymentColumns} + " WHERE payment_id = $1 ORDER BY provider, account",
              {payment_id}));
}

std::vector<PaymentFactRow> facts_of(Connection& connection, const PaymentRow& payment) {
  std::vector<PaymentFactRow> facts;
  const auto result =
      execute(connection, kFacts, {payment.provider, payment.account, payment.payment_id});
  for (const auto& row : result.rows) {
    facts.push_back(
        {*row[0], *row[1], row[2].value_or(""), amount(row[3]), row[4].value_or(""), row[5]});
  }
  return facts;
}

}  // namespace hookgate
