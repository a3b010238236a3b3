#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/connection.h"

namespace hookgate {

struct PaymentFilter {
  std::optional<std::string> provider;
  std::optional<std::string> status;
  std::optional<std::string> reference;
  std::optional<std::string> flag;
  std::size_t limit = 50;
};

// One row of hookgate.payments. Amounts are in the provider's minor units; nothing means not
// decidable.
struct PaymentRow {
  std::string provider, account, payment_id, reference, status, currency;
  std::optional<std::int64_t> amount_authorized, amount_captured, amount_refunded, amount_disputed;
  std::vector<std::string> flags;
  std::optional<std::string> first_event_at, last_event_at;  // RFC 3339
};

// One row of hookgate.payment_facts.
struct PaymentFactRow {
  std::string kind, fact_id, state;
  std::optional<std::int64_t> amount;
  std::string currency;
  std::optional<std::string> occurred_at;
};

// By last event, newest first.
std::vector<PaymentRow> list_payments(Connection& connection, const PaymentFilter& filter);

// By the provider's id of the payment; several accounts may know one.
std::vector<PaymentRow> find_payments(Connection& connection, const std::string& payment_id);

// In the order they occurred.
std::vector<PaymentFactRow> facts_of(Connection& connection, const PaymentRow& payment);

}  // namespace hookgate
