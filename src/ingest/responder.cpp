#include "ingest/responder.h"

#include <string_view>
#include <utility>

#include "ingest/answers.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Whether the same request would fail in the same way for ever: its data, a constraint, or an
// exception that the operator's own function raised. All else is ours to put right.
bool is_permanent(const SqlError& error) {
  const auto& state = error.sqlstate();
  return state.starts_with("22") || state.starts_with("23") || state.starts_with("P0");
}

RequestOutcome refused(std::string_view title, std::string reason) {
  auto answer = problem_answer(422, title);
  return {RequestOutcome::Kind::kRefused,
          {answer.status, std::move(answer.content_type), std::move(answer.body)},
          std::move(reason)};
}

RequestOutcome refused_by(const SqlError& error) {
  const auto title = error.sqlstate().starts_with("22")   ? "a value cannot be used"
                     : error.sqlstate().starts_with("23") ? "not possible with the data there is"
                                                          : "refused";
  return refused(title, error.what());
}

Event event_of(const Delivery& delivery, std::int64_t id, const std::string& provider) {
  Event event;
  event.id = id;
  event.source = delivery.request->source;
  event.provider = provider;
  event.scope = delivery.event.scope;
  event.event_id = delivery.event.event_id;
  event.event_type = delivery.event.event_type;
  event.subject = delivery.event.subject;
  event.occurred_at = delivery.event.occurred_at;
  event.received_at = delivery.request->received_at;
  event.body = delivery.request->body;
  event.item = delivery.event.item;
  return event;
}

std::string_view word_of(RequestOutcome::Kind kind) {
  switch (kind) {
    case RequestOutcome::Kind::kDone: return "done";
    case RequestOutcome::Kind::kRefused: return "gave_up";
    case RequestOutcome::Kind::kTransient: break;
  }
  return "retry";
}

}  // namespace

Responder::Responder(ConnectionPool& pool, Clock clock, ResponderSettings settings,
                     std::function<void()> on_stored)
    : pool_(pool),
      clock_(std::move(clock)),
      settings_(settings),
      on_stored_(std::move(on_stored)) {}

void Responder::start() {
  for (int i = 0; i < settings_.threads; ++i) threads_.emplace_back([this] { run(); });
}

void Responder::stop() noexcept {
  {
    const std::scoped_lock lock{mutex_};
    stopping_ = true;
  }
  submitted_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

bool Responder::submit(Job job) {
  {
    const std::scoped_lock lock{mutex_};
    if (stopping_ || threads_.empty() || waiting_.size() >= settings_.requests_max) return false;
    waiting_.push_back({std::move(job), SteadyClock::now()});
  }
  submitted_.notify_one();
  return true;
}

void Responder::run() {
  EventIds ids;
  for (;;) {
    Waiting next;
    {
      std::unique_lock lock{mutex_};
      submitted_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    const bool is_late = SteadyClock::now() - next.since > settings_.wait_max;
    auto answered = is_late ? AnsweredRequest{AnsweredRequest::Kind::kTransient,
                                              {},
                                              "it waited too long for a free thread"}
                            : answer(ids, next.job);
    const bool is_new = answered.kind == AnsweredRequest::Kind::kAnswered;
    next.job.done(std::move(answered));
    if (is_new && next.job.others_follow) on_stored_();
  }
}

AnsweredRequest Responder::answer(EventIds& ids, const Job& job) {
  AnswerOptions options;
  if (job.handler != nullptr) options.handler = job.handler->name();
  options.others_follow = job.others_follow;
  std::string reason;
  for (int attempt = 0; attempt <= settings_.transient_retries_max; ++attempt) {
    try {
      auto lease = pool_.acquire();
      return answer_once(*lease, ids, job.delivery, options,
                         [&](SqlTransaction& sql, std::int64_t id) { return work(sql, id, job); });
    } catch (const SqlError& error) {
      reason = error.what();
      if (!error.is_transient()) break;
    } catch (const std::exception& error) {
      reason = error.what();
      break;
    }
  }
  return {AnsweredRequest::Kind::kTransient, {}, std::move(reason)};
}

RequestOutcome Responder::work(SqlTransaction& sql, std::int64_t id, const Job& job) {
  if (job.handler == nullptr) return {RequestOutcome::Kind::kDone, job.without_handler};
  HandlerContext context{sql, clock_(), true};
  const auto began = SteadyClock::now();
  std::string_view word = "error";
  const auto observe = [&] {
    if (settings_.metrics != nullptr)
      settings_.metrics->handler_run(job.handler->name(), word, SteadyClock::now() - began);
  };
  try {
    auto outcome = run_handler(context, event_of(job.delivery, id, job.provider), job);
    word = word_of(outcome.kind);
    observe();
    return outcome;
  } catch (...) {
    observe();
    throw;
  }
}

RequestOutcome Responder::run_handler(HandlerContext& context, const Event& event, const Job& job) {
  Outcome outcome;
  try {
    outcome = job.handler->handle(event, context);
  } catch (const SqlError& error) {
    if (!is_permanent(error)) throw;
    return refused_by(error);
  }
  if (const auto* const retry = std::get_if<RetryLater>(&outcome))
    return {RequestOutcome::Kind::kTransient, {}, retry->reason};
  if (const auto* const give_up = std::get_if<GiveUp>(&outcome))
    return refused("the request cannot be carried out", give_up->reason);
  if (!context.answer()) return {RequestOutcome::Kind::kDone, job.without_handler};
  return {RequestOutcome::Kind::kDone,
          {context.answer()->status, "application/json", context.answer()->body}};
}

}  // namespace hookgate
