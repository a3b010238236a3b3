#include "store/error_translation.h"

#include <pqxx/pqxx>

#include "domain/sql.h"

namespace hookgate {
namespace {

// The server's messages have several lines and end with a line feed; a log line and an error have
// one.
std::string text_of(const std::exception& error) {
  std::string text;
  for (const char c : std::string_view{error.what()}) {
    const bool is_blank = c == '\n' || c == '\t' || c == ' ';
    if (!is_blank) text += c;
    if (is_blank && !text.empty() && text.back() != ' ') text += ' ';
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

// The order matters: in the library several of these do not derive from sql_error.
void translate_errors(const std::function<void()>& work) {
  try {
    work();
  } catch (const pqxx::in_doubt_error&) {
    throw StoreUnavailable("outcome of the commit is unknown");
  } catch (const pqxx::broken_connection& error) {
    throw StoreUnavailable(std::string{"database connection lost: "} + text_of(error));
  } catch (const pqxx::deadlock_detected& error) {
    throw SqlError("40P01", text_of(error));
  } catch (const pqxx::serialization_failure& error) {
    throw SqlError("40001", text_of(error));
  } catch (const pqxx::transaction_rollback& error) {
    throw SqlError("40000", text_of(error));
  } catch (const pqxx::sql_error& error) {
    if (error.sqlstate().starts_with("57P") || error.sqlstate().starts_with("08")) {
      throw StoreUnavailable(std::string{"database is ending the session: "} + text_of(error));
    }
    throw SqlError(error.sqlstate(), text_of(error));
  } catch (const pqxx::failure& error) {
    throw SqlError("", text_of(error));
  } catch (const pqxx::usage_error& error) {
    throw SqlError("", text_of(error));
  }
}

}  // namespace hookgate
