#include "ingest/answers.h"

#include <algorithm>

#include "domain/json.h"

namespace hookgate {
namespace {

std::string_view word(StoreResult result) {
  switch (result) {
    case StoreResult::kAccepted: return "accepted";
    case StoreResult::kConflict: return "conflict";
    default: return "duplicate";
  }
}

// One word for the request: what is new, or else what needs a look, or else that we had it all.
StoreResult overall(const std::vector<StoreResult>& results) {
  for (const auto wanted : {StoreResult::kAccepted, StoreResult::kConflict}) {
    if (std::ranges::find(results, wanted) != results.end()) return wanted;
  }
  return StoreResult::kDuplicate;
}

}  // namespace

Answer status_answer(int status, std::string_view text) {
  Answer answer;
  answer.status = status;
  answer.body = "{\"status\":" + quote_json(text) + "}";
  return answer;
}

Answer problem_answer(int status, std::string_view title) {
  Answer answer;
  answer.status = status;
  answer.content_type = "application/problem+json";
  answer.body = "{\"type\":\"about:blank\",\"title\":" + quote_json(title) +
                ",\"status\":" + std::to_string(status) + "}";
  return answer;
}

Answer method_not_allowed_answer(std::string_view allowed) {
  auto answer = problem_answer(405, "method not allowed");
  answer.headers.push_back({"Allow", std::string{allowed}});
  return answer;
}

Answer unavailable_answer(std::chrono::seconds retry_after) {
  auto answer = problem_answer(503, "not available now, send again later");
  answer.headers.push_back({"Retry-After", std::to_string(retry_after.count())});
  return answer;
}

Answer still_running_answer(std::chrono::seconds retry_after) {
  auto answer = problem_answer(409, "the first request with this key is still running");
  answer.headers.push_back({"Retry-After", std::to_string(retry_after.count())});
  return answer;
}

Answer rejection_answer(RejectReason reason, std::string_view challenge) {
  auto answer = problem_answer(http_status(reason), reason_code(reason));
  if (reason == RejectReason::kCredentialsMissing || reason == RejectReason::kCredentialsMismatch) {
    answer.headers.push_back({"WWW-Authenticate", std::string{challenge}});
  }
  return answer;
}

Answer stored_answer(std::string_view provider_body, const std::vector<std::string>& event_ids,
                     const std::vector<StoreResult>& results) {
  Answer answer;
  const auto whole = overall(results);
  if (whole == StoreResult::kDuplicate) answer.headers.push_back({"Idempotent-Replayed", "true"});
  if (!provider_body.empty()) {
    answer.content_type = "text/plain";
    answer.body = provider_body;
    return answer;
  }
  answer.body = "{\"status\":\"" + std::string{word(whole)} + "\",\"events\":[";
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i > 0) answer.body += ',';
    answer.body += "{\"id\":" + quote_json(event_ids[i]) + ",\"status\":\"" +
                   std::string{word(results[i])} + "\"}";
  }
  answer.body += "]}";
  return answer;
}

}  // namespace hookgate
