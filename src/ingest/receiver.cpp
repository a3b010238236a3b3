#include "ingest/receiver.h"

#include <algorithm>
#include <utility>

#include "ingest/answers.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

constexpr std::string_view kWebhookPrefix = "/webhooks/";

// Credentials are not part of what an event is, and must not be at rest.
bool is_credential(std::string_view header) {
  return equal_ignoring_case(header, "authorization") ||
         equal_ignoring_case(header, "proxy-authorization") ||
         equal_ignoring_case(header, "cookie");
}

std::string stored_head(const InboundRequest& request) {
  std::string head = request.method + " " + request.target + " HTTP/1.1\r\n";
  const auto append = [&head](std::string_view text) {
    for (const char c : text) head += c == '\r' || c == '\n' ? ' ' : c;
  };
  for (const auto& header : request.headers) {
    if (is_credential(header.name)) continue;
    append(header.name);
    head += ": ";
    append(header.value);
    head += "\r\n";
  }
  return head;
}

// Why no handler may see this authentic event; "" if one may.
std::string ignore_reason(const Source& source, const NewEvent& event) {
  if (source.live && event.live && *source.live != *event.live) {
    return *event.live ? "a live event on a source for test events"
                       : "a test-mode event on a source for live events";
  }
  if (!source.accounts.empty() &&
      std::ranges::find(source.accounts, event.account) == source.accounts.end()) {
    return "its account is not one of the source's accounts";
  }
  return "";
}

void log_rejection(const Source& source, const InboundRequest& request, const Rejected& rejected) {
  log(LogLevel::kWarn, "request refused",
      {{"source", source.name},
       {"reason", reason_code(rejected.reason)},
       {"detail", rejected.detail},
       {"remote", request.remote_address},
       {"bytes", request.body.size()}});
}

void log_conflicts(const Source& source, const std::vector<std::string>& ids,
                   const std::vector<StoreResult>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] != StoreResult::kConflict) continue;
    log(LogLevel::kWarn, "event came again with other signed content",
        {{"source", source.name}, {"event_id", ids[i]}});
  }
}

}  // namespace

Receiver::Receiver(SourceMap sources, CommitQueue& queue, Clock clock, ReceiverSettings settings,
                   std::function<bool()> is_ready)
    : sources_(std::make_shared<const SourceMap>(std::move(sources))),
      queue_(queue),
      clock_(std::move(clock)),
      settings_(settings),
      is_ready_(std::move(is_ready)) {}

void Receiver::replace_sources(SourceMap sources) {
  auto replacement = std::make_shared<const SourceMap>(std::move(sources));
  const std::scoped_lock lock{mutex_};
  sources_ = std::move(replacement);
}

std::shared_ptr<const Source> Receiver::source_of(std::string_view path) const {
  if (!path.starts_with(kWebhookPrefix)) return nullptr;
  std::shared_ptr<const SourceMap> sources;
  {
    const std::scoped_lock lock{mutex_};
    sources = sources_;
  }
  const auto found = sources->find(path.substr(kWebhookPrefix.size()));
  if (found == sources->end()) return nullptr;
  return {sources, &found->second};
}

Answer Receiver::overloaded() const {
  return unavailable_answer(settings_.retry_after);
}

std::optional<Answer> Receiver::refuse_early(std::string_view method, std::string_view path,
                                             std::optional<std::size_t> content_length) const {
  const bool is_probe = path == "/healthz" || path == "/readyz";
  const bool is_webhook = source_of(path) != nullptr;
  if (!is_probe && !is_webhook) return problem_answer(404, "not found");
  if (is_probe && method != "GET" && method != "HEAD")
    return method_not_allowed_answer("GET, HEAD");
  if (is_webhook && method != "POST") return method_not_allowed_answer("POST");
  if (is_webhook && draining_) return overloaded();
  if (content_length && *content_length > settings_.body_bytes_max) {
    return problem_answer(413, "body too large");
  }
  return std::nullopt;
}

void Receiver::receive(InboundRequest request, Reply reply) {
  request.received_at = clock_();
  if (const auto refused = refuse_early(request.method, request.path(), request.body.size())) {
    reply(*refused);
    return;
  }
  if (request.path() == "/healthz") {
    reply(status_answer(200, "ok"));
    return;
  }
  if (request.path() == "/readyz") {
    const bool ready = !draining_ && is_ready_();
    reply(ready ? status_answer(200, "ready") : overloaded());
    return;
  }
  const auto source = source_of(request.path());
  if (!source) {  // a reload took it away since the first look
    reply(problem_answer(404, "not found"));
    return;
  }
  receive_webhook(source, std::move(request), std::move(reply));
}

void Receiver::receive_webhook(const std::shared_ptr<const Source>& held, InboundRequest request,
                               Reply reply) {
  const auto& source = *held;
  const auto verdict = source.provider->verify(request, request.received_at);
  if (const auto* rejected = std::get_if<Rejected>(&verdict)) {
    log_rejection(source, request, *rejected);
    reply(rejection_answer(rejected->reason));
    return;
  }
  auto events = source.provider->events(request);
  auto stored = std::make_shared<Delivery::Request>();
  stored->source = source.name;
  stored->head = stored_head(request);
  stored->body = std::move(request.body);
  stored->received_at = request.received_at;
  stored->secret_index = std::get<Verified>(verdict).secret_index;

  std::vector<Delivery> deliveries;
  std::vector<std::string> ids;
  for (auto& event : events) {
    ids.push_back(event.event_id);
    auto reason = ignore_reason(source, event);
    deliveries.push_back({stored, std::move(event), std::move(reason)});
  }
  const auto shared_reply = std::make_shared<Reply>(std::move(reply));
  const bool taken = queue_.submit(
      std::move(deliveries),
      [this, held, ids = std::move(ids), shared_reply](const CommitResult& result) {
        if (!result || std::ranges::find(*result, StoreResult::kFailed) != result->end()) {
          (*shared_reply)(overloaded());
          return;
        }
        log_conflicts(*held, ids, *result);
        (*shared_reply)(stored_answer(held->provider->success_body(), ids, *result));
      });
  if (!taken) (*shared_reply)(overloaded());
}

}  // namespace hookgate
