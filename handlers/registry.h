#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/handler.h"
#include "handlers/forward/forward_settings.h"
#include "handlers/sql/sql_handler.h"

namespace hookgate {

struct HandlerSettings {
  std::string name;
  std::string kind;                          // one of handler_kinds()
  std::vector<std::string> events{};         // globs of event types; empty: all
  std::string capture = "manual";            // payments, Adyen: "manual" or "immediate"
  SqlHandlerSettings sql{};                  // of the kind "sql"
  std::optional<ForwardSettings> forward{};  // set for the kind "forward"
};

// Kinds that can be configured now, sorted.
std::vector<std::string_view> handler_kinds();

// Kinds of the contract whose part comes with a later version, sorted.
std::vector<std::string_view> later_handler_kinds();

// Makes the handler, or nullptr for a kind not in handler_kinds().
std::unique_ptr<Handler> make_handler(const HandlerSettings& settings);

}  // namespace hookgate
