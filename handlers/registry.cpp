#include "handlers/registry.h"

#include "handlers/payments/ledger.h"

namespace hookgate {

std::vector<std::string_view> handler_kinds() {
  return {"payments"};
}

std::vector<std::string_view> later_handler_kinds() {
  return {"amqp", "forward", "kafka", "sql"};
}

std::unique_ptr<Handler> make_handler(const HandlerSettings& settings) {
  if (settings.kind != "payments") return nullptr;
  FoldSettings fold_settings;
  fold_settings.capture_immediate = settings.capture == "immediate";
  return std::make_unique<PaymentsLedger>(settings.name, fold_settings);
}

}  // namespace hookgate
