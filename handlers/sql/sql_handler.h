#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "domain/handler.h"
#include "domain/json_pointer.h"
#include "handlers/sql/named_statement.h"

namespace hookgate {

// A field of the event itself, for a parameter: "@source" "@scope" "@event_id" "@type" "@subject".
enum class EventField { kSource, kScope, kEventId, kType, kSubject };

// Nothing for a text that names none.
std::optional<EventField> event_field(std::string_view text);

struct SqlHandlerSettings {
  struct Parameter {
    std::string name;
    std::string origin;  // as configured: "/data/object/id", "@scope"
    std::variant<JsonPointer, EventField> value;
    bool is_required = false;  // without it the event is dead; else it is NULL
  };
  struct Statement {
    NamedStatement statement;
    std::string place;  // where it is configured: "hookgate.toml:12:3: "
  };
  std::vector<Parameter> parameters;
  std::vector<Statement> statements;  // run in this order; at least one
  int answer = 200;                   // the status of an answer, for `respond`
};

// Statements of the operator's, run in the transaction that marks the event done. Whether they are
// safe to run for a fact that was told before is up to them: handlers/README.md shows how.
//
// Values are bound, never written into the statement: a string of the payload as its text, a number
// as its literal, a boolean as true or false, null and what is missing as NULL, an object or array
// as JSON. PostgreSQL takes the type from where the parameter stands.
//
// The first row that the last statement returns is the answer for a source that responds.
class SqlHandler final : public Handler {
 public:
  SqlHandler(std::string name, SqlHandlerSettings settings)
      : name_(std::move(name)), settings_(std::move(settings)) {}

  std::string_view name() const override { return name_; }
  Outcome handle(const Event& event, HandlerContext& context) override;
  // Events about one object are run by one worker at a time.
  std::vector<std::string> lock_keys(const Event& event) const override;
  // Has PostgreSQL plan every statement. Throws InvalidHandler with the place of the first that
  // cannot run: an unknown table, a type that does not fit, a missing permission.
  void check(SqlTransaction& sql) const override;

 private:
  std::variant<std::vector<SqlValue>, GiveUp> values_of(const Event& event) const;

  std::string name_;
  SqlHandlerSettings settings_;
};

}  // namespace hookgate
