#include <cstdio>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/payments_table.h"
#include "cli/table.h"
#include "config.h"

namespace hookgate {
namespace {

using nlohmann::ordered_json;

template <typename Value>
ordered_json optional_json(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json payment_json(const PaymentRow& payment) {
  return {{"provider", payment.provider},
          {"account", payment.account},
          {"payment_id", payment.payment_id},
          {"reference", payment.reference},
          {"status", payment.status},
          {"currency", payment.currency},
          {"amount_authorized", optional_json(payment.amount_authorized)},
          {"amount_captured", optional_json(payment.amount_captured)},
          {"amount_refunded", optional_json(payment.amount_refunded)},
          {"amount_disputed", optional_json(payment.amount_disputed)},
          {"flags", payment.flags},
          {"first_event_at", optional_json(payment.first_event_at)},
          {"last_event_at", optional_json(payment.last_event_at)}};
}

std::string line_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Connection open(const std::string& config) {
  return Connection{load_config(config_path(config)).database.url, SessionSettings{}};
}

std::string amount_text(const std::optional<std::int64_t>& amount) {
  return amount ? std::to_string(*amount) : "?";
}

}  // namespace

std::string payments_table(const std::vector<PaymentRow>& payments) {
  Table table{{"PROVIDER", "PAYMENT", "REFERENCE", "STATUS", "CUR", "AUTHORIZED", "CAPTURED",
               "REFUNDED", "DISPUTED", "FLAGS"},
              {5, 6, 7, 8}};
  for (const auto& payment : payments) {
    std::string flags;
    for (const auto& flag : payment.flags) flags += (flags.empty() ? "" : ",") + flag;
    table.add({payment.provider, payment.payment_id, payment.reference, payment.status,
               payment.currency, amount_text(payment.amount_authorized),
               amount_text(payment.amount_captured), amount_text(payment.amount_refunded),
               amount_text(payment.amount_disputed), flags});
  }
  return table.empty() ? "no payments\n" : table.text();
}

std::string payments_json_lines(const std::vector<PaymentRow>& payments) {
  std::string lines;
  for (const auto& payment : payments) lines += line_of(payment_json(payment));
  return lines;
}

int payments_list_command(const PaymentsListOptions& options) {
  auto connection = open(options.config);
  const auto payments = list_payments(connection, options.filter);
  if (options.json) {
    std::fputs(payments_json_lines(payments).c_str(), stdout);
  } else {
    std::fputs(payments_table(payments).c_str(), stdout);
  }
  return kExitDone;
}

int payments_show_command(const ShowOptions& options) {
  auto connection = open(options.config);
  const auto payments = find_payments(connection, options.id);
  if (payments.empty()) {
    std::fprintf(stderr, "hookgate: no payment '%s'\n", options.id.c_str());
    return kExitFailed;
  }
  for (const auto& payment : payments) {
    const auto facts = facts_of(connection, payment);
    if (options.json) {
      auto json = payment_json(payment);
      json["facts"] = ordered_json::array();
      for (const auto& fact : facts) {
        json["facts"].push_back({{"kind", fact.kind},
                                 {"fact_id", fact.fact_id},
                                 {"state", fact.state},
                                 {"amount", optional_json(fact.amount)},
                                 {"currency", fact.currency},
                                 {"occurred_at", optional_json(fact.occurred_at)}});
      }
      std::fputs(line_of(json).c_str(), stdout);
      continue;
    }
    std::fputs(payments_table({payment}).c_str(), stdout);
    Table table{{"OCCURRED", "FACT", "ID", "STATE", "AMOUNT", "CUR"}, {4}};
    for (const auto& fact : facts) {
      table.add({fact.occurred_at.value_or("-"), fact.kind, fact.fact_id, fact.state,
                 amount_text(fact.amount), fact.currency});
    }
    std::printf("\n%s", table.text().c_str());
  }
  return kExitDone;
}

}  // namespace hookgate
