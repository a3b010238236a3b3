#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "handlers/payments/fact.h"

namespace hookgate {

// The known facts of one account at one provider, each with the payment it belongs to ("" while
// nobody has said: then it is parked). Production keeps them in PostgreSQL, tests in memory; the
// rules are the same.
class FactBook {
 public:
  virtual ~FactBook() = default;
  // The fact with the payment it belongs to.
  virtual std::optional<FactUpdate> find(std::string_view kind, const std::string& id) = 0;
  virtual void put(const FactUpdate& fact) = 0;
  virtual std::vector<Fact> facts_of(const std::string& payment) = 0;
  virtual bool has_payment(const std::string& payment) = 0;
  // The payment that a Stripe charge belongs to, by the charge itself or by what hangs on it; one
  // other than the charge's own id is preferred, then the least. "" if nothing is known.
  virtual std::string payment_of_charge(const std::string& charge) = 0;
  // Gives the parked facts that hang on `charge` to the payment.
  virtual void adopt_by_charge(const std::string& charge, const std::string& payment) = 0;
  // Gives a parked dispute that carries the payment's reference to the payment.
  virtual void adopt_dispute(const std::string& payment) = 0;
  // Gives all facts of one payment to another, with the milestones it has reached: they are the
  // same business, and no effect happens a second time.
  virtual void move_facts(const std::string& from, const std::string& to) = 0;
};

// Enters what events say and finds the payments it belongs to, whatever arrives first. Returns the
// payments to fold again; one without facts is to be removed (a charge that was taken for a payment
// of its own). The caller holds the locks of all ids in `updates`.
std::set<std::string> enter(FactBook& book, const std::vector<FactUpdate>& updates);

}  // namespace hookgate
