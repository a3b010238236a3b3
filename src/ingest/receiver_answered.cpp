// The part of the receiver for requests whose answer a handler makes.
#include <utility>

#include "ingest/answers.h"
#include "ingest/receiver.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

void count_answered(Metrics& metrics, const Source& source, AnsweredRequest::Kind kind) {
  using Kind = AnsweredRequest::Kind;
  if (kind == Kind::kAnswered) metrics.event(source.name, EventOutcome::kAccepted);
  if (kind == Kind::kReplayed || kind == Kind::kUnanswered)
    metrics.event(source.name, EventOutcome::kDuplicate);
  if (kind == Kind::kOtherContent) metrics.event(source.name, EventOutcome::kConflict);
}

}  // namespace

void Receiver::respond(std::shared_ptr<const Exchange> exchange, Delivery delivery) {
  const auto& source = *exchange->source;
  auto accepted =
      stored_answer(source.provider->success_body(), exchange->event_ids, {StoreResult::kAccepted});
  Responder::Job job;
  job.delivery = delivery;
  job.provider = source.provider->name();
  job.handler = source.respond;
  job.others_follow = source.has_handlers;
  job.without_handler = {accepted.status, std::move(accepted.content_type),
                         std::move(accepted.body)};
  job.done = [this, exchange, delivery](AnsweredRequest answered) {
    complete_answered(exchange, delivery, std::move(answered));
  };
  if (!responder_.submit(std::move(job)))
    refuse_overloaded(*exchange, delivery.request->body.size(),
                      "too many requests wait for their answer");
}

// Of a sender that makes its own keys, other content under one is a mistake to be told of; of a
// provider it is a conflict, which is kept.
void Receiver::complete_answered(std::shared_ptr<const Exchange> exchange, const Delivery& delivery,
                                 AnsweredRequest answered) {
  using Kind = AnsweredRequest::Kind;
  const auto& source = *exchange->source;
  const bool has_client_keys = source.provider->has_client_keys();
  if (answered.kind == Kind::kOtherContent && !has_client_keys) {
    enqueue(std::move(exchange), {delivery});
    return;
  }
  if (answered.kind == Kind::kTransient) {
    log(LogLevel::kWarn, "request could not be carried out, nothing is stored",
        {{"source", source.name},
         {"event_id", delivery.event.event_id},
         {"reason", answered.reason}});
  } else if (!answered.reason.empty()) {
    log(LogLevel::kWarn, "request is refused for good",
        {{"source", source.name},
         {"event_id", delivery.event.event_id},
         {"reason", answered.reason}});
  }
  if (settings_.metrics != nullptr) count_answered(*settings_.metrics, source, answered.kind);
  finish(*exchange, answer_to(answered, has_client_keys, exchange->event_ids));
}

Answer Receiver::answer_to(const AnsweredRequest& answered, bool has_client_keys,
                           const std::vector<std::string>& event_ids) const {
  using Kind = AnsweredRequest::Kind;
  switch (answered.kind) {
    case Kind::kAnswered:
    case Kind::kReplayed: break;
    case Kind::kUnanswered: return stored_answer("", event_ids, {StoreResult::kDuplicate});
    case Kind::kOtherContent: return problem_answer(422, "the key was used with other content");
    case Kind::kRunning:
      return has_client_keys ? still_running_answer(settings_.retry_after) : overloaded();
    case Kind::kTransient: return overloaded();
  }
  Answer answer;
  answer.status = answered.answer.status;
  answer.content_type = answered.answer.content_type;
  answer.body = answered.answer.body;
  if (answered.kind == Kind::kReplayed) answer.headers.push_back({"Idempotent-Replayed", "true"});
  return answer;
}

}  // namespace hookgate
