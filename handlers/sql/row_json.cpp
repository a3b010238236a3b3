#include "handlers/sql/row_json.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "domain/json.h"

namespace hookgate {
namespace {

// Of PostgreSQL's pg_type; these never change.
enum TypeOid : std::uint32_t {
  kBool = 16,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kJson = 114,
  kFloat4 = 700,
  kFloat8 = 701,
  kNumeric = 1700,
  kJsonb = 3802,
};

// NaN and Infinity have no number in JSON.
bool is_finite(std::string_view number) {
  return number.find_first_of("NnIi") == std::string_view::npos;
}

std::string value_json(std::uint32_t type, const std::string& text) {
  switch (type) {
    case kBool: return text == "t" ? "true" : "false";
    case kInt8:
    case kInt2:
    case kInt4:
    case kJson:
    case kJsonb: return text;
    case kFloat4:
    case kFloat8:
    case kNumeric: return is_finite(text) ? text : quote_json(text);
    default: return quote_json(text);
  }
}

}  // namespace

std::string row_json(std::span<const SqlColumn> columns, const SqlRow& row) {
  std::string json = "{";
  for (std::size_t i = 0; i < columns.size() && i < row.size(); ++i) {
    if (i > 0) json += ',';
    json += quote_json(columns[i].name) + ':';
    json += row[i] ? value_json(columns[i].type, *row[i]) : "null";
  }
  return json + '}';
}

}  // namespace hookgate
