#include "handlers/sql/sql_handler.h"

#include <array>
#include <optional>

#include "handlers/event_payload.h"
#include "handlers/sql/row_json.h"

namespace hookgate {
namespace {

constexpr std::array<std::pair<std::string_view, EventField>, 5> kFields{
    {{"@source", EventField::kSource},
     {"@scope", EventField::kScope},
     {"@event_id", EventField::kEventId},
     {"@type", EventField::kType},
     {"@subject", EventField::kSubject}}};

const std::string& field_of(const Event& event, EventField field) {
  switch (field) {
    case EventField::kSource: return event.source;
    case EventField::kScope: return event.scope;
    case EventField::kEventId: return event.event_id;
    case EventField::kType: return event.event_type;
    case EventField::kSubject: break;
  }
  return event.subject;
}

SqlValue sql_value(const Json& json) {
  switch (json.kind()) {
    case Json::Kind::kNull: return nullptr;
    case Json::Kind::kBoolean: return json.boolean().value_or(false);
    case Json::Kind::kNumber: return std::string{json.number_text()};
    case Json::Kind::kString: return std::string{json.string().value_or("")};
    case Json::Kind::kArray:
    case Json::Kind::kObject: break;
  }
  return canonical_json(json);
}

bool holds_nul(const SqlValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text != nullptr && text->find('\0') != std::string::npos;
}

// The server's words without its "ERROR:" and without its copy of the statement.
std::string reason_of(const SqlError& error) {
  constexpr std::string_view kPrefix = "ERROR: ";
  std::string_view text = error.what();
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  return std::string{text.substr(0, text.find(" LINE 1:"))};
}

}  // namespace

std::optional<EventField> event_field(std::string_view text) {
  for (const auto& [name, field] : kFields)
    if (name == text) return field;
  return std::nullopt;
}

// By the order of settings_.parameters.
std::variant<std::vector<SqlValue>, GiveUp> SqlHandler::values_of(const Event& event) const {
  std::optional<EventPayload> payload;
  std::vector<SqlValue> values;
  values.reserve(settings_.parameters.size());
  for (const auto& parameter : settings_.parameters) {
    SqlValue value = nullptr;
    if (const auto* const field = std::get_if<EventField>(&parameter.value)) {
      value = field_of(event, *field);
    } else {
      if (!payload) {
        auto read = event_payload(event);
        if (auto* const reason = std::get_if<std::string>(&read)) return GiveUp{*reason};
        payload = std::get<EventPayload>(std::move(read));
      }
      if (const auto found = std::get<JsonPointer>(parameter.value).find(payload->value))
        value = sql_value(*found);
    }
    const auto named = "'" + parameter.name + "' (" + parameter.origin + ")";
    if (parameter.is_required && std::holds_alternative<std::nullptr_t>(value))
      return GiveUp{"the payload has no " + named};
    if (holds_nul(value)) return GiveUp{named + " holds U+0000, which no text of the database can"};
    values.push_back(std::move(value));
  }
  return values;
}

Outcome SqlHandler::handle(const Event& event, HandlerContext& context) {
  auto read = values_of(event);
  if (auto* const give_up = std::get_if<GiveUp>(&read)) return *give_up;
  const auto& values = std::get<std::vector<SqlValue>>(read);
  SqlResult last;
  for (const auto& [statement, place] : settings_.statements) {
    std::vector<SqlValue> parameters;
    parameters.reserve(statement.parameters.size());
    for (const auto index : statement.parameters) parameters.push_back(values[index]);
    if (context.wants_answer()) {
      last = context.sql().execute(statement.text, parameters);
    } else {
      context.sql().execute_later(statement.text, parameters);
    }
  }
  // A statement that inserts only under a condition has refused by returning nothing.
  if (context.wants_answer() && !last.columns.empty() && last.rows.empty())
    return GiveUp{"the statement returned no row"};
  if (!last.rows.empty())
    context.set_answer({settings_.answer, row_json(last.columns, last.rows.front())});
  return Done{};
}

std::vector<std::string> SqlHandler::lock_keys(const Event& event) const {
  if (event.subject.empty()) return {};
  return {"subject/" + event.source + "/" + event.subject};
}

void SqlHandler::check(SqlTransaction& sql) const {
  for (const auto& [statement, place] : settings_.statements) {
    try {
      sql.execute("PREPARE hookgate_check AS " + statement.text);
      std::string nulls;
      for (std::size_t i = 0; i < statement.parameters.size(); ++i)
        nulls += i == 0 ? "(NULL" : ", NULL";
      if (!nulls.empty()) nulls += ')';
      sql.execute("EXPLAIN EXECUTE hookgate_check" + nulls);
      sql.execute("DEALLOCATE hookgate_check");
    } catch (const SqlError& error) {
      throw InvalidHandler{place + "'statement' of [[handler]] \"" + name_ +
                           "\" cannot be run: " + reason_of(error)};
    }
  }
}

}  // namespace hookgate
