#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "domain/sql.h"
#include "store/connection.h"
#include "store/event_ids.h"
#include "store/event_store.h"

namespace hookgate {

// What the sender of a request was told, and is told again.
struct StoredAnswer {
  int status = 200;
  std::string content_type;
  std::string body;
};

// What the work of a first request came to.
struct RequestOutcome {
  enum class Kind {
    kDone,       // its writes and the answer are kept
    kRefused,    // its writes are undone, the answer is kept
    kTransient,  // nothing is kept; the request may come again
  };
  Kind kind = Kind::kDone;
  StoredAnswer answer{};
  std::string reason{};  // of the two others, for the operator
};

// What became of one delivery of a request.
struct AnsweredRequest {
  enum class Kind {
    kAnswered,      // it was the first; `answer` is committed with its effect
    kReplayed,      // it came before; `answer` is what was said then
    kUnanswered,    // it came before and was stored without an answer
    kOtherContent,  // its key came before with other content
    kRunning,       // the first with its key is being worked on, here or in another process
    kTransient,     // nothing was stored
  };
  Kind kind = Kind::kTransient;
  StoredAnswer answer{};
  std::string reason{};
};

struct AnswerOptions {
  std::string handler;         // recorded as through with the event; "" for none
  bool others_follow = false;  // other handlers run later: the event stays pending
};

// Stores a request, does its work and stores its answer, all in one transaction whose first step is
// the key: (source, scope, event_id) of the delivery. Of several at once one works, the others are
// kRunning without waiting. `work` runs behind a savepoint. Throws StoreUnavailable when nothing is
// stored or the outcome is unknown, SqlError for what is transient, and what `work` throws; then
// nothing is stored either.
AnsweredRequest answer_once(
    Connection& connection, EventIds& ids, const Delivery& delivery, const AnswerOptions& options,
    const std::function<RequestOutcome(SqlTransaction&, std::int64_t id)>& work);

}  // namespace hookgate
