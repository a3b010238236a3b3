#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hookgate {

// An SQL statement whose `:name` parameters became PostgreSQL's $1, $2, ...
struct NamedStatement {
  std::string text;
  std::vector<std::size_t> parameters;  // of $1, $2, ...: index into the names given
};

struct StatementFault {
  std::string message;
};

// Replaces the parameters in `sql`: a colon and a name of letters, digits and '_', outside of
// literals, quoted identifiers, comments and casts. Refuses a name that is not among `names`, more
// than one statement, and what is no INSERT, UPDATE, DELETE, MERGE, SELECT, VALUES or WITH: the
// transaction that it runs in is not its own to end.
std::variant<NamedStatement, StatementFault> compile_statement(std::string_view sql,
                                                               std::span<const std::string> names);

}  // namespace hookgate
