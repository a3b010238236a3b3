#include "store/answered_requests.h"

#include <array>
#include <string_view>
#include <utility>

#include <pqxx/pqxx>

#include "store/binary_array.h"
#include "store/error_translation.h"
#include "store/offered_events.h"
#include "store/sql_session.h"

namespace hookgate {
namespace {

// Lengths go before the texts, so that no boundary can shift.
constexpr auto kTryLock = R"sql(
  SELECT pg_try_advisory_xact_lock(
           hashtextextended(concat_ws(' ', octet_length($1::text), $1::text, octet_length($2::text),
                                      $2::text, $3::text), 0))
)sql";

constexpr auto kFindAndCount = R"sql(
  WITH counted AS (
    UPDATE hookgate.events
       SET deliveries = deliveries + 1, last_seen_at = greatest(last_seen_at, ($4::timestamptz[])[1])
     WHERE source = $1 AND scope = $2 AND event_id = $3
    RETURNING id, content
  )
  SELECT c.content = ($5::bytea[])[1], a.status, a.content_type, a.body
    FROM counted c
    LEFT JOIN hookgate.answers a ON a.event = c.id
)sql";

constexpr auto kSaveAnswer = R"sql(
  INSERT INTO hookgate.answers (event, status, content_type, body)
  VALUES ($1, $2, $3, ($4::bytea[])[1])
)sql";

constexpr auto kSettle = R"sql(
  UPDATE hookgate.events
     SET status = $2, finished = $3, last_error = nullif($4, ''), attempts = attempts + 1,
         done_at = CASE WHEN $2 = 'done' THEN now() END
   WHERE id = $1
)sql";

pqxx::binarystring one_bytea(std::string_view bytes) {
  auto array = BinaryArray::of_bytea();
  array.add(bytes);
  return pqxx::binarystring(array.finish());
}

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// One delivery in one transaction.
class AnswerTransaction {
 public:
  // `id` is its row's, if it makes one.
  AnswerTransaction(Connection& connection, const Delivery& delivery, std::int64_t id)
      : connection_(connection),
        delivery_(delivery),
        id_(id),
        offered_(offered(connection, delivery, id)),
        work_(connection.raw()) {}

  bool try_lock();
  bool insert();
  AnsweredRequest find_and_count();
  AnsweredRequest answer(const AnswerOptions& options,
                         const std::function<RequestOutcome(SqlTransaction&, std::int64_t)>& work);

 private:
  static pqxx::binarystring offered(Connection& connection, const Delivery& delivery,
                                    std::int64_t id);
  void save(const AnswerOptions& options, const RequestOutcome& outcome);

  Connection& connection_;
  const Delivery& delivery_;
  const std::int64_t id_;
  const pqxx::binarystring offered_;  // made before the transaction: it may have to ask for a type
  pqxx::work work_;
};

pqxx::binarystring AnswerTransaction::offered(Connection& connection, const Delivery& delivery,
                                              std::int64_t id) {
  const std::array deliveries{&delivery};
  const std::array ids{id};
  return pqxx::binarystring{offered_events(connection, deliveries, ids).finish()};
}

bool AnswerTransaction::try_lock() {
  connection_.prepare_once("try_lock_key", kTryLock);
  return work_
      .exec_prepared1("try_lock_key", delivery_.request->source, delivery_.event.scope,
                      delivery_.event.event_id)[0]
      .as<bool>();
}

bool AnswerTransaction::insert() {
  static const auto kStatement = std::string{kStoreOfferedParts} + "SELECT id FROM stored";
  connection_.prepare_once("insert_answered", kStatement);
  return !work_.exec_prepared("insert_answered", offered_).empty();
}

AnsweredRequest AnswerTransaction::find_and_count() {
  connection_.prepare_once("find_answer", kFindAndCount);
  auto at = BinaryArray::of_timestamptz();
  at.add(delivery_.request->received_at);
  const auto rows = work_.exec_prepared(
      "find_answer", delivery_.request->source, delivery_.event.scope, delivery_.event.event_id,
      pqxx::binarystring(at.finish()), one_bytea(bytes_of(delivery_.event.content)));
  // Retention took it away between two statements.
  if (rows.empty()) return {AnsweredRequest::Kind::kTransient, {}, "its key has just expired"};
  work_.commit();
  const auto& row = rows[0];
  if (!row[0].as<bool>()) return {AnsweredRequest::Kind::kOtherContent};
  if (row[1].is_null()) return {AnsweredRequest::Kind::kUnanswered};
  const pqxx::binarystring body{row[3]};
  return {AnsweredRequest::Kind::kReplayed,
          {row[1].as<int>(), row[2].c_str(), {body.get(), body.size()}}};
}

AnsweredRequest AnswerTransaction::answer(
    const AnswerOptions& options,
    const std::function<RequestOutcome(SqlTransaction&, std::int64_t)>& work) {
  work_.exec("SAVEPOINT work");
  SqlSession session{connection_, work_};
  auto outcome = work(session, id_);
  if (outcome.kind == RequestOutcome::Kind::kTransient)
    return {AnsweredRequest::Kind::kTransient, {}, std::move(outcome.reason)};
  work_.exec(outcome.kind == RequestOutcome::Kind::kRefused ? "ROLLBACK TO SAVEPOINT work"
                                                            : "RELEASE SAVEPOINT work");
  save(options, outcome);
  work_.commit();
  return {AnsweredRequest::Kind::kAnswered, std::move(outcome.answer), std::move(outcome.reason)};
}

// A refusal is final for the sender, so that nobody shall run the handler for it again.
void AnswerTransaction::save(const AnswerOptions& options, const RequestOutcome& outcome) {
  connection_.prepare_once("save_answer", kSaveAnswer);
  work_.exec_prepared("save_answer", id_, outcome.answer.status, outcome.answer.content_type,
                      one_bytea(outcome.answer.body));
  const bool stays = options.others_follow && outcome.kind == RequestOutcome::Kind::kDone;
  connection_.prepare_once("settle_answered", kSettle);
  work_.exec_prepared("settle_answered", id_, stays ? "pending" : "done", options.handler,
                      outcome.reason);
}

}  // namespace

AnsweredRequest answer_once(
    Connection& connection, EventIds& ids, const Delivery& delivery, const AnswerOptions& options,
    const std::function<RequestOutcome(SqlTransaction&, std::int64_t id)>& work) {
  AnsweredRequest answered;
  translate_errors([&] {
    AnswerTransaction transaction{connection, delivery, ids.next(connection)};
    if (!transaction.try_lock()) {
      answered.kind = AnsweredRequest::Kind::kRunning;
    } else if (!transaction.insert()) {
      answered = transaction.find_and_count();
    } else {
      answered = transaction.answer(options, work);
    }
  });
  return answered;
}

}  // namespace hookgate
