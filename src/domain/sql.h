#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hookgate {

struct Bytes {
  std::string value;
};

// A parameter. Texts must be valid UTF-8 without NUL, or `execute` throws std::invalid_argument:
// PostgreSQL's text cannot hold them, and the client library would cut at the NUL without a word.
using SqlValue = std::variant<std::nullptr_t, std::string, std::int64_t, bool, Bytes>;

using SqlRow = std::vector<std::optional<std::string>>;  // PostgreSQL's text form; NULL is nullopt

struct SqlColumn {
  std::string name;
  std::uint32_t type = 0;  // PostgreSQL's number of the type (pg_type.oid)
};

struct SqlResult {
  std::vector<SqlColumn> columns;  // empty for a statement that returns no rows
  std::vector<SqlRow> rows;
  std::size_t affected_rows = 0;
};

// A statement failed. `sqlstate` is PostgreSQL's five characters, "" if it did not tell.
class SqlError : public std::runtime_error {
 public:
  SqlError(std::string state, const std::string& text)
      : std::runtime_error(text), sqlstate_(std::move(state)) {}
  const std::string& sqlstate() const { return sqlstate_; }
  // Deadlock, serialization failure, lost or ending server: the same work may succeed at once.
  bool is_transient() const {
    return sqlstate_.starts_with("40") || sqlstate_.starts_with("08") ||
           sqlstate_.starts_with("57P");
  }
  // A statement that took too long, or waited too long for a lock: not to be tried at once.
  bool is_timeout() const { return sqlstate_ == "57014" || sqlstate_ == "55P03"; }

 private:
  std::string sqlstate_;
};

// The transaction a handler writes in: the one that marks its event done. It ends with the batch,
// never by the handler. One thread at a time. The seam hides the client library, whose versions
// differ.
class SqlTransaction {
 public:
  virtual ~SqlTransaction() = default;
  // Runs one statement with $1.. parameters. Throws SqlError, or StoreUnavailable when the session
  // is gone.
  virtual SqlResult execute(std::string_view statement, std::span<const SqlValue> parameters) = 0;

  // The same for a statement whose result nobody needs. It may be sent later, with others in one
  // message, but before any other `execute` and before the commit; then it fails there.
  virtual void execute_later(std::string_view statement, std::span<const SqlValue> parameters) {
    execute(statement, parameters);
  }

  SqlResult execute(std::string_view statement, std::initializer_list<SqlValue> parameters = {}) {
    return execute(statement, std::span<const SqlValue>{parameters.begin(), parameters.size()});
  }
};

// The database cannot be used now; whole-unit work may be tried again.
class StoreUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hookgate
