#include "store/event_ids.h"

#include <pqxx/pqxx>

namespace hookgate {

std::int64_t EventIds::next(Connection& connection) {
  constexpr std::int64_t kBlock = 1000;  // the INCREMENT of hookgate.event_ids
  if (next_ > last_) {
    pqxx::nontransaction transaction{connection.raw()};
    next_ = transaction.exec1("SELECT nextval('hookgate.event_ids')")[0].as<std::int64_t>();
    last_ = next_ + kBlock - 1;
  }
  return next_++;
}

}  // namespace hookgate
