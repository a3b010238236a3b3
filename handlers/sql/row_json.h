#pragma once

#include <span>
#include <string>

#include "domain/sql.h"

namespace hookgate {

// A row as a JSON object, a member a column: integers and numerics as numbers, booleans as such,
// json as it is, NULL as null, all else as PostgreSQL's text.
std::string row_json(std::span<const SqlColumn> columns, const SqlRow& row);

}  // namespace hookgate
