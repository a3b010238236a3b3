#include "ingest/receiver.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ingest/answers.h"
#include "telemetry/log.h"

namespace hookgate {
namespace {

constexpr std::string_view kWebhookPrefix = "/webhooks/";
constexpr std::string_view kHealthPath = "/healthz";
constexpr std::string_view kReadyPath = "/readyz";

// Besides the codes of RejectReason.
constexpr std::string_view kNotFound = "not-found";
constexpr std::string_view kMethodNotAllowed = "method-not-allowed";
constexpr std::string_view kAddressNotAllowed = "address-not-allowed";
constexpr std::string_view kBodyTooLarge = "body-too-large";
constexpr std::string_view kEncodingNotUnderstood = "encoding-not-understood";
constexpr std::string_view kRateLimited = "rate-limited";
constexpr std::string_view kOverloaded = "overloaded";

// No sender we know compresses its webhooks, and what it would have signed then is anybody's guess.
bool is_encoded(const InboundRequest& head) {
  const auto encoding = head.header("Content-Encoding");
  return encoding && !encoding->empty() && !equal_ignoring_case(*encoding, "identity");
}

// Credentials are not part of what an event is, and must not be at rest.
bool is_credential(std::string_view header) {
  return equal_ignoring_case(header, "authorization") ||
         equal_ignoring_case(header, "proxy-authorization") ||
         equal_ignoring_case(header, "cookie");
}

// A header's end must not be written by its value.
void append_one_line(std::string& head, std::string_view text) {
  const auto begin = static_cast<std::ptrdiff_t>(head.size());
  head += text;
  const bool is_one_line =
      text.find('\r') == std::string_view::npos && text.find('\n') == std::string_view::npos;
  if (is_one_line) return;
  std::replace_if(
      head.begin() + begin, head.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
}

std::string stored_head(const InboundRequest& request) {
  constexpr std::string_view kVersion = " HTTP/1.1\r\n";
  constexpr std::size_t kSeparatorBytes = 4;  // of ": " and the line's end
  std::size_t bytes = request.method.size() + 1 + request.target.size() + kVersion.size();
  for (const auto& header : request.headers)
    bytes += header.name.size() + header.value.size() + kSeparatorBytes;

  std::string head;
  head.reserve(bytes);
  head += request.method;
  head += ' ';
  head += request.target;
  head += kVersion;
  for (const auto& header : request.headers) {
    if (is_credential(header.name)) continue;
    append_one_line(head, header.name);
    head += ": ";
    append_one_line(head, header.value);
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

void log_conflicts(const Source& source, const std::vector<std::string>& ids,
                   const std::vector<StoreResult>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] != StoreResult::kConflict) continue;
    log(LogLevel::kWarn, "event came again with other signed content",
        {{"source", source.name}, {"event_id", ids[i]}});
  }
}

Answer rate_limited_answer(std::chrono::seconds wait) {
  auto answer = problem_answer(429, "too many requests");
  answer.headers.push_back({"Retry-After", std::to_string(wait.count())});
  return answer;
}

void count_events(Metrics& metrics, const Source& source, const std::vector<StoreResult>& results) {
  constexpr std::array<std::pair<StoreResult, EventOutcome>, 3> kOutcomes{
      {{StoreResult::kAccepted, EventOutcome::kAccepted},
       {StoreResult::kDuplicate, EventOutcome::kDuplicate},
       {StoreResult::kConflict, EventOutcome::kConflict}}};
  for (const auto& [result, outcome] : kOutcomes) {
    const auto count = std::ranges::count(results, result);
    if (count > 0) metrics.event(source.name, outcome, static_cast<std::size_t>(count));
  }
}

// Only where one event comes a request: there is one answer.
bool is_answered_at_once(const Source& source, const std::vector<Delivery>& deliveries) {
  if (deliveries.size() != 1 || !deliveries.front().ignore_reason.empty()) return false;
  const auto& event = deliveries.front().event;
  if (!event.unusable.empty()) return false;
  if (source.provider->has_client_keys()) return true;
  return source.respond != nullptr && source.respond->wants(event.event_type);
}

}  // namespace

Receiver::Receiver(SourceMap sources, CommitQueue& queue, Responder& responder, Clock clock,
                   ReceiverSettings settings, std::function<bool()> is_ready)
    : sources_(std::make_shared<const SourceMap>(std::move(sources))),
      queue_(queue),
      responder_(responder),
      clock_(std::move(clock)),
      settings_(std::move(settings)),
      trusted_proxies_{settings_.trusted_proxies, settings_.trust_unix_socket},
      is_ready_(std::move(is_ready)) {}

void Receiver::replace_sources(SourceMap sources) {
  auto replacement = std::make_shared<const SourceMap>(std::move(sources));
  const std::scoped_lock lock{mutex_};
  sources_.swap(replacement);  // the old map, if it ends here, ends after the lock
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
  return {std::move(sources), &found->second};
}

void Receiver::drain() {
  draining_ = true;
  rejection_log_.flush();
}

Answer Receiver::overloaded() const {
  return unavailable_answer(settings_.retry_after);
}

std::optional<Answer> Receiver::refuse_early(const InboundRequest& head,
                                             std::optional<std::size_t> content_length) {
  const auto began = SteadyClock::now();
  const auto path = head.path();
  const bool is_probe = path == kHealthPath || path == kReadyPath;
  const auto source = source_of(path);
  auto refusal = judge_head(source.get(), is_probe, head, content_length);
  if (!refusal) return std::nullopt;
  const auto client = client_address(head, trusted_proxies_);
  note(*refusal, source.get(), client ? client->text() : "", content_length.value_or(0));
  count_answer(source ? source->name : "", refusal->answer.status, began);
  return std::move(refusal->answer);
}

std::optional<Receiver::Refusal> Receiver::judge_head(
    const Source* source, bool is_probe, const InboundRequest& head,
    std::optional<std::size_t> content_length) const {
  if (!is_probe && source == nullptr)
    return Refusal{problem_answer(404, "not found"), kNotFound, std::string{head.path()}};
  if (is_probe && head.method != "GET" && head.method != "HEAD")
    return Refusal{method_not_allowed_answer("GET, HEAD"), kMethodNotAllowed, head.method};
  if (source != nullptr && head.method != "POST")
    return Refusal{method_not_allowed_answer("POST"), kMethodNotAllowed, head.method};
  if (source != nullptr && !is_allowed(*source, head))
    return Refusal{problem_answer(403, "address not allowed"), kAddressNotAllowed};
  if (source != nullptr && draining_) return Refusal{overloaded()};
  if (content_length && *content_length > settings_.body_bytes_max)
    return Refusal{problem_answer(413, "body too large"), kBodyTooLarge};
  if (source == nullptr) return std::nullopt;
  if (is_encoded(head))
    return Refusal{problem_answer(415, "content encoding not understood"), kEncodingNotUnderstood};
  if (auto rejected = source->provider->refuse_by_head(head, clock_())) {
    return Refusal{rejection_answer(rejected->reason, source->provider->challenge()),
                   reason_code(rejected->reason), std::move(rejected->detail)};
  }
  return std::nullopt;
}

// A client whose address is unknown is nobody we allow.
bool Receiver::is_allowed(const Source& source, const InboundRequest& head) const {
  if (source.allow.empty()) return true;
  const auto client = client_address(head, trusted_proxies_);
  return client && std::ranges::any_of(source.allow, [&](const IpNetwork& network) {
           return network.contains(*client);
         });
}

void Receiver::receive(InboundRequest request, Reply reply) {
  const auto began = SteadyClock::now();
  request.received_at = clock_();
  Exchange exchange{nullptr, std::move(reply), began, {}, {}};
  const auto path = request.path();
  if (path == kHealthPath) {
    finish(exchange, status_answer(200, "ok"));
    return;
  }
  if (path == kReadyPath) {
    const bool ready = !draining_ && is_ready_();
    finish(exchange, ready ? status_answer(200, "ready") : overloaded());
    return;
  }
  exchange.source = source_of(path);
  if (!exchange.source) {  // a reload took it away since the first look
    finish(exchange, problem_answer(404, "not found"));
    return;
  }
  if (!trusted_proxies_.empty()) {
    const auto client = client_address(request, trusted_proxies_);
    request.remote_address = client ? client->text() : "";
  }
  receive_webhook(std::move(exchange), std::move(request));
}

void Receiver::receive_webhook(Exchange exchange, InboundRequest request) {
  const auto& source = *exchange.source;
  std::size_t secret_index = 0;
  if (auto refusal = judge(source, request, exchange.began, secret_index)) {
    note(*refusal, &source, request.remote_address, request.body.size());
    finish(exchange, std::move(refusal->answer));
    return;
  }
  auto events = source.provider->events(request);
  if (source.rate_limit > 0 && events.size() > 1)
    rate_limiter_.charge(source.name, static_cast<double>(events.size() - 1));
  if (settings_.metrics != nullptr)
    settings_.metrics->stage(Stage::kVerify, SteadyClock::now() - exchange.began);
  submit(std::move(exchange), std::move(request), std::move(events), secret_index);
}

// Sets `secret_index` when the request is genuine.
std::optional<Receiver::Refusal> Receiver::judge(const Source& source,
                                                 const InboundRequest& request,
                                                 SteadyClock::time_point began,
                                                 std::size_t& secret_index) {
  auto verdict = source.provider->verify(request, request.received_at);
  if (auto* const rejected = std::get_if<Rejected>(&verdict)) {
    return Refusal{rejection_answer(rejected->reason, source.provider->challenge()),
                   reason_code(rejected->reason), std::move(rejected->detail)};
  }
  secret_index = std::get<Verified>(verdict).secret_index;
  if (settings_.metrics != nullptr) {
    settings_.metrics->secret_match(source.name, secret_index);
    settings_.metrics->last_event(source.name, request.received_at);
  }
  // Only genuine requests count against the limit: a flood without a signature must not use up what
  // the honest sender is allowed.
  if (source.rate_limit <= 0) return std::nullopt;
  const auto wait = rate_limiter_.take(source.name, source.rate_limit, began);
  if (!wait) return std::nullopt;
  return Refusal{rate_limited_answer(*wait), kRateLimited};
}

void Receiver::submit(Exchange exchange, InboundRequest request, std::vector<NewEvent> events,
                      std::size_t secret_index) {
  const auto& source = *exchange.source;
  auto stored = std::make_shared<Delivery::Request>();
  stored->source = source.name;
  stored->head = stored_head(request);
  stored->body = std::move(request.body);
  stored->received_at = request.received_at;
  stored->secret_index = secret_index;

  exchange.remote_address = std::move(request.remote_address);
  std::vector<Delivery> deliveries;
  deliveries.reserve(events.size());
  exchange.event_ids.reserve(events.size());
  for (auto& event : events) {
    exchange.event_ids.push_back(event.event_id);
    auto reason = ignore_reason(source, event);
    deliveries.push_back({stored, std::move(event), std::move(reason)});
  }
  const auto shared = std::make_shared<const Exchange>(std::move(exchange));
  if (is_answered_at_once(source, deliveries)) {
    respond(shared, std::move(deliveries.front()));
  } else {
    enqueue(shared, std::move(deliveries));
  }
}

void Receiver::enqueue(std::shared_ptr<const Exchange> exchange, std::vector<Delivery> deliveries) {
  const auto body_bytes = deliveries.front().request->body.size();
  const bool taken =
      queue_.submit(std::move(deliveries),
                    [this, exchange](const CommitResult& result) { complete(*exchange, result); });
  if (!taken) refuse_overloaded(*exchange, body_bytes, "the commit queue is full or stopped");
}

void Receiver::refuse_overloaded(const Exchange& exchange, std::size_t body_bytes,
                                 std::string_view detail) {
  rejection_log_.add({.source = exchange.source->name,
                      .reason = kOverloaded,
                      .detail = detail,
                      .remote = exchange.remote_address,
                      .body_bytes = body_bytes},
                     SteadyClock::now());
  finish(exchange, overloaded());
}

void Receiver::complete(const Exchange& exchange, const CommitResult& result) const {
  const auto& source = *exchange.source;
  if (!result || std::ranges::find(*result, StoreResult::kFailed) != result->end()) {
    finish(exchange, overloaded());
    return;
  }
  if (settings_.metrics != nullptr) count_events(*settings_.metrics, source, *result);
  log_conflicts(source, exchange.event_ids, *result);
  finish(exchange, stored_answer(source.provider->success_body(), exchange.event_ids, *result));
}

void Receiver::note(const Refusal& refusal, const Source* source, std::string_view remote,
                    std::size_t body_bytes) {
  if (refusal.reason.empty()) return;
  const std::string_view name = source == nullptr ? "" : std::string_view{source->name};
  if (settings_.metrics != nullptr) {
    settings_.metrics->rejection(name, refusal.reason);
    const bool is_event = source != nullptr && refusal.reason != kMethodNotAllowed;
    if (is_event) settings_.metrics->event(name, EventOutcome::kRejected);
  }
  rejection_log_.add({.source = name,
                      .reason = refusal.reason,
                      .detail = refusal.detail,
                      .remote = remote,
                      .body_bytes = body_bytes},
                     SteadyClock::now());
}

void Receiver::count_answer(std::string_view source, int status,
                            SteadyClock::time_point began) const {
  if (settings_.metrics != nullptr)
    settings_.metrics->request(source, status, SteadyClock::now() - began);
}

void Receiver::finish(const Exchange& exchange, Answer answer) const {
  count_answer(exchange.source ? std::string_view{exchange.source->name} : "", answer.status,
               exchange.began);
  exchange.reply(std::move(answer));
}

}  // namespace hookgate
