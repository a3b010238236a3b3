#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "handlers/payments/fact_book.h"
#include "handlers/payments/payment_state.h"
#include "handlers/payments/versions.h"

namespace hookgate {

// The ledger without a database: the same rules (`enter`, `fold`) over facts in memory.
class MemoryFactBook final : public FactBook {
 public:
  std::optional<FactUpdate> find(std::string_view kind, const std::string& id) override {
    const auto found = facts_.find({std::string{kind}, id});
    return found == facts_.end() ? std::nullopt : std::optional{found->second};
  }
  void put(const FactUpdate& fact) override { facts_[{fact.fact.kind, fact.fact.id}] = fact; }
  std::vector<Fact> facts_of(const std::string& payment) override {
    std::vector<Fact> facts;
    for (const auto& [key, entry] : facts_) {
      if (entry.payment == payment) facts.push_back(entry.fact);
    }
    return facts;
  }
  bool has_payment(const std::string& payment) override { return !facts_of(payment).empty(); }
  std::string payment_of_charge(const std::string& charge) override {
    std::set<std::string> known;
    for (const auto& [key, entry] : facts_) {
      const bool is_it = entry.fact.kind == fact_kind::kCharge && entry.fact.id == charge;
      if ((is_it || entry.fact.parent == charge) && !entry.payment.empty())
        known.insert(entry.payment);
    }
    if (known.size() > 1) known.erase(charge);
    return known.empty() ? "" : *known.begin();
  }
  void adopt_by_charge(const std::string& charge, const std::string& payment) override {
    for (auto& [key, entry] : facts_) {
      if (entry.fact.parent == charge && entry.payment.empty()) entry.payment = payment;
    }
  }
  void adopt_dispute(const std::string& payment) override {
    for (auto& [key, entry] : facts_) {
      const bool is_it = entry.fact.kind == fact_kind::kDispute && entry.fact.id == payment &&
                         entry.fact.parent.empty();
      if (is_it && entry.payment.empty()) entry.payment = payment;
    }
  }
  void move_facts(const std::string& from, const std::string& to) override {
    for (auto& [key, entry] : facts_) {
      if (entry.payment == from) entry.payment = to;
    }
    for (const auto& [milestone, fact] : effects_[from])
      effects_[to].emplace(milestone, fact == from ? to : fact);
    effects_.erase(from);
  }
  void reach(const std::string& payment, const Milestones& milestones) {
    effects_[payment].insert(milestones.begin(), milestones.end());
  }
  // Milestones that were ever reached, by payment.
  const std::map<std::string, Milestones>& effects() const { return effects_; }

 private:
  std::map<std::pair<std::string, std::string>, FactUpdate> facts_;
  std::map<std::string, Milestones> effects_;
};

class LedgerInMemory {
 public:
  LedgerInMemory(std::string provider, FoldSettings settings)
      : provider_(std::move(provider)), settings_(settings) {}

  // Takes one event's JSON (a Stripe event, an Adyen item in its envelope).
  void take(const std::string& body) {
    Event event;
    event.body = body;
    event.event_id = "evt";
    take(std::move(event));
  }
  // Takes an event with the other bodies that came under its id.
  void take(Event event) {
    event.provider = provider_;
    const auto extraction = extract_all(event);
    const auto* extracted = std::get_if<Extracted>(&extraction);
    if (extracted == nullptr) return;
    for (const auto& payment : enter(book_, extracted->updates)) {
      const auto facts = book_.facts_of(payment);
      if (facts.empty()) {
        payments_.erase(payment);
        continue;
      }
      payments_[payment] = fold(provider_, payment, facts, settings_);
      book_.reach(payment, payments_[payment].milestones);
    }
  }
  // How often a milestone was reached, over all payments.
  int times_reached(const std::string& milestone) const {
    int times = 0;
    for (const auto& [payment, milestones] : book_.effects()) {
      for (const auto& [name, fact] : milestones) times += name == milestone ? 1 : 0;
    }
    return times;
  }
  const std::map<std::string, PaymentState>& payments() const { return payments_; }

 private:
  std::string provider_;
  FoldSettings settings_;
  MemoryFactBook book_;
  std::map<std::string, PaymentState> payments_;
};

// "pi_1 captured 1000/1000/0/0 needs_review" for each payment, amounts as
// authorized/captured/refunded/disputed,
// `?` for one that is not decided.
inline std::string summary(const std::map<std::string, PaymentState>& payments) {
  std::string text;
  const auto amount = [](const Amount& value) {
    return value ? std::to_string(*value) : std::string{"?"};
  };
  for (const auto& [id, state] : payments) {
    text += (text.empty() ? "" : "; ") + id + " " + state.status + " " + amount(state.authorized) +
            "/" + amount(state.captured) + "/" + amount(state.refunded) + "/" +
            amount(state.disputed);
    if (state.needs_review) text += " needs_review";
    if (state.over_returned) text += " over_returned";
  }
  return text;
}

}  // namespace hookgate
