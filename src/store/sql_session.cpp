#include "store/sql_session.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <pqxx/pqxx>

#include "domain/text.h"
#include "store/error_translation.h"

namespace hookgate {
namespace {

std::string bytea_literal(const std::string& bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "\\x";
  for (const char c : bytes) {
    text += kHex[static_cast<unsigned char>(c) >> 4U];
    text += kHex[static_cast<unsigned char>(c) & 15U];
  }
  return text;
}

std::optional<std::string> text_form(const SqlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (text->find('\0') != std::string::npos || !is_valid_utf8(*text)) {
      throw std::invalid_argument("an SQL text parameter holds a NUL or invalid UTF-8");
    }
    return *text;
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* bytes = std::get_if<Bytes>(&value)) return bytea_literal(bytes->value);
  return std::nullopt;
}

constexpr auto kSerializationFailure = "40001";
constexpr auto kFeatureNotSupported = "0A000";

bool is_about_a_stale_plan(const SqlError& error) {
  return error.sqlstate() == kFeatureNotSupported &&
         std::string_view{error.what()}.find("cached plan") != std::string_view::npos;
}

SqlResult copy_of(const pqxx::result& result) {
  SqlResult copy;
  copy.affected_rows = result.affected_rows();
  for (pqxx::row_size_type i = 0; i < result.columns(); ++i)
    copy.columns.push_back({result.column_name(i), result.column_type(i)});
  copy.rows.reserve(result.size());
  for (const auto& row : result) {
    SqlRow fields;
    fields.reserve(row.size());
    for (const auto& field : row) {
      if (field.is_null()) {
        fields.emplace_back(std::nullopt);
      } else {
        fields.emplace_back(std::string{field.c_str(), field.size()});
      }
    }
    copy.rows.push_back(std::move(fields));
  }
  return copy;
}

std::string limit_statement(std::chrono::milliseconds limit) {
  return "SET LOCAL statement_timeout = " + std::to_string(limit.count()) + ";";
}

}  // namespace

void SqlSession::execute_later(std::string_view statement, std::span<const SqlValue> parameters) {
  constexpr std::size_t kDeferredBytesMax = 256UL * 1024;
  constexpr int kDeferredStatementsMax = 200;
  std::optional<std::string> name;
  if (deferred_limit_) translate_errors([&] { name = connection_.prepared_name(statement); });
  if (!name) {
    execute(statement, parameters);
    return;
  }
  deferred_ += "EXECUTE " + *name;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    // Untyped literals, which PostgreSQL reads as it would read the text of a bound parameter.
    const auto text = text_form(parameters[i]);
    deferred_ += i == 0 ? "(" : ", ";
    deferred_ += text ? transaction_.quote(*text) : "NULL";
  }
  deferred_ += parameters.empty() ? ";" : ");";
  ++deferred_count_;
  if (deferred_.size() > kDeferredBytesMax || deferred_count_ == kDeferredStatementsMax) flush();
}

void SqlSession::defer(std::chrono::milliseconds limit) {
  deferred_limit_ = limit;
  if (statement_limit_.count() == 0) statement_limit_ = limit;
}

void SqlSession::limit_statements(std::chrono::milliseconds limit) {
  flush();
  statement_limit_ = limit;
  translate_errors([&] { transaction_.exec(limit_statement(limit)); });
}

void SqlSession::flush() {
  if (deferred_.empty()) return;
  const auto share =
      std::max(*deferred_limit_ / std::exchange(deferred_count_, 0), std::chrono::milliseconds{1});
  const auto statements =
      limit_statement(share) + std::exchange(deferred_, {}) + limit_statement(statement_limit_);
  translate_errors([&] { transaction_.exec(statements); });
}

SqlResult SqlSession::execute(std::string_view statement, std::span<const SqlValue> parameters) {
  flush();
  std::vector<std::optional<std::string>> texts;
  texts.reserve(parameters.size());
  for (const auto& parameter : parameters) texts.push_back(text_form(parameter));
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const auto& text : texts) pointers.push_back(text ? text->c_str() : nullptr);

  const auto values = pqxx::prepare::make_dynamic_params(pointers.begin(), pointers.end());
  SqlResult result;
  std::optional<std::string> name;
  try {
    translate_errors([&] {
      name = connection_.prepared_name(statement);
      result = copy_of(name ? transaction_.exec_prepared(*name, values)
                            : transaction_.exec_params(std::string{statement}, values));
    });
  } catch (const SqlError& error) {
    // A table was altered since. Nothing is wrong with the statement: the same again at once works.
    if (!name || !is_about_a_stale_plan(error)) throw;
    connection_.forget_prepared(statement);
    throw SqlError(kSerializationFailure, error.what());
  }
  return result;
}

}  // namespace hookgate
