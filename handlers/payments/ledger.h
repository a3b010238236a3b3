#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/handler.h"
#include "handlers/payments/payment_state.h"

namespace hookgate {

// The payments ledger: keeps one row a payment in hookgate.payments, from facts in
// hookgate.payment_facts. Safe for any order, any repetition and several workers: facts are keyed
// by the provider's own ids and only grow, the row is a pure function of them, and whatever an
// event touches is locked first.
class PaymentsLedger final : public Handler {
 public:
  PaymentsLedger(std::string name, FoldSettings settings)
      : name_(std::move(name)), settings_(settings) {}

  std::string_view name() const override { return name_; }
  Outcome handle(const Event& event, HandlerContext& context) override;
  // Another body under an event's id: Adyen's newer details count, and a contradiction is flagged.
  bool sees_versions() const override { return true; }
  std::vector<std::string> lock_keys(const Event& event) const override;

 private:
  std::string name_;
  FoldSettings settings_;
};

}  // namespace hookgate
