#include "worker/limited_sql.h"

#include <string>
#include <utility>

namespace hookgate {
namespace {

// The part of the limit, in percent, by which a run may overstep it because the session was not
// told of the rest: that takes a round trip.
constexpr int kTolerancePercent = 10;

}  // namespace

LimitedSql::LimitedSql(EventTransaction& transaction, std::chrono::milliseconds limit,
                       SteadyClock clock)
    : transaction_(transaction), limit_(limit), clock_(std::move(clock)), current_(limit) {}

void LimitedSql::begin() {
  began_ = clock_();
}

void LimitedSql::end() {
  if (std::exchange(current_, limit_) != limit_) transaction_.limit_statements(limit_);
}

SqlResult LimitedSql::execute(std::string_view statement, std::span<const SqlValue> parameters) {
  limit_next();
  return transaction_.sql().execute(statement, parameters);
}

void LimitedSql::execute_later(std::string_view statement, std::span<const SqlValue> parameters) {
  limit_next();
  transaction_.sql().execute_later(statement, parameters);
}

void LimitedSql::limit_next() {
  const auto left = limit_ - std::chrono::ceil<std::chrono::milliseconds>(clock_() - began_);
  if (left.count() <= 0) {
    throw SqlError("57014", "the handler has run longer than handler_timeout allows (" +
                                std::to_string(limit_.count()) + " ms)");
  }
  if (current_ - left > limit_ * kTolerancePercent / 100) {
    transaction_.limit_statements(left);
    current_ = left;
  }
}

}  // namespace hookgate
