#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "domain/sql.h"
#include "handlers/payments/fact_book.h"
#include "handlers/payments/payment_state.h"

namespace hookgate {

// What of a payment matters to other payments of its order.
struct Standing {
  std::string reference;  // "" without a row
  bool is_live = false;
  bool operator==(const Standing&) const = default;
};

// The facts and payments of one account in PostgreSQL. The caller holds the locks of what it
// touches.
class SqlFactBook final : public FactBook {
 public:
  // `event` is the row of hookgate.events that is being handled; new facts remember it.
  SqlFactBook(SqlTransaction& sql, std::string provider, std::string account, std::int64_t event);

  std::optional<FactUpdate> find(std::string_view kind, const std::string& id) override;
  void put(const FactUpdate& fact) override;
  std::vector<Fact> facts_of(const std::string& payment) override;
  bool has_payment(const std::string& payment) override;
  std::string payment_of_charge(const std::string& charge) override;
  void adopt_by_charge(const std::string& charge, const std::string& payment) override;
  void adopt_dispute(const std::string& payment) override;
  void move_facts(const std::string& from, const std::string& to) override;

  // Takes the transaction-long lock of that name, as the worker does for lock_keys().
  void lock(const std::string& name);
  Standing standing_of(const std::string& payment);
  // Writes the row, all of it but the flag duplicate_payment, and the milestones that are new.
  void write_payment(const std::string& payment, const PaymentState& state);
  void remove_payment(const std::string& payment);
  // Flags the live payments of one order when there are two or more, and no others.
  void flag_duplicates(const std::string& reference);

 private:
  SqlTransaction& sql_;
  std::string provider_;
  std::string account_;
  std::int64_t event_;
};

}  // namespace hookgate
