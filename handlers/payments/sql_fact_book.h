#pragma once

#include "domain/sql.h"
#include "handlers/payments/fact_book.h"
#include "handlers/payments/payment_state.h"

namespace hookgate {

// The facts and payments of one account in PostgreSQL. The caller holds the locks of what it
// touches.
class SqlFactBook final : public FactBook {
 public:
  SqlFactBook(SqlTransaction& sql, std::string provider, std::string account);

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
  // The reference of a payment's row; "" without a row.
  std::string reference_of(const std::string& payment);
  void write_payment(const std::string& payment, const PaymentState& state);
  void remove_payment(const std::string& payment);
  // Flags the live payments of one order when there are two or more.
  void flag_duplicates(const std::string& reference);

 private:
  SqlTransaction& sql_;
  std::string provider_;
  std::string account_;
};

}  // namespace hookgate
