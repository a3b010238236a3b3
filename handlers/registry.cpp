#include "handlers/registry.h"

#include <utility>

#include "handlers/event_filter.h"
#include "handlers/forward/forward.h"
#include "handlers/payments/ledger.h"

namespace hookgate {
namespace {

std::unique_ptr<Handler> make_unfiltered(const HandlerSettings& settings) {
  if (settings.kind == "sql") return std::make_unique<SqlHandler>(settings.name, settings.sql);
  if (settings.kind == "forward")
    return std::make_unique<ForwardHandler>(settings.name, settings.forward.value().ordered);
  if (settings.kind != "payments") return nullptr;
  FoldSettings fold_settings;
  fold_settings.capture_immediate = settings.capture == "immediate";
  return std::make_unique<PaymentsLedger>(settings.name, fold_settings);
}

}  // namespace

std::vector<std::string_view> handler_kinds() {
  return {"forward", "payments", "sql"};
}

std::vector<std::string_view> later_handler_kinds() {
  return {"amqp", "kafka"};
}

std::unique_ptr<Handler> make_handler(const HandlerSettings& settings) {
  auto handler = make_unfiltered(settings);
  if (handler == nullptr || settings.events.empty()) return handler;
  return std::make_unique<EventFilter>(std::move(handler), settings.events);
}

}  // namespace hookgate
