#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "domain/http_message.h"
#include "domain/verdict.h"
#include "store/event_store.h"

namespace hookgate {

// {"status": text} with that status code.
Answer status_answer(int status, std::string_view text);

// application/problem+json (RFC 9457) with a short fixed title; the sender never learns more.
Answer problem_answer(int status, std::string_view title);

Answer method_not_allowed_answer(std::string_view allowed);

// 503 with Retry-After.
Answer unavailable_answer(std::chrono::seconds retry_after);

// 409 with Retry-After: the first request with this key is not answered yet.
Answer still_running_answer(std::chrono::seconds retry_after);

// `challenge` goes into WWW-Authenticate where credentials lack.
Answer rejection_answer(RejectReason reason, std::string_view challenge);

// The 200 for a request whose events are committed: `provider_body` where the sender insists on
// one, else our JSON. Has `Idempotent-Replayed: true` when none of the events was new.
Answer stored_answer(std::string_view provider_body, const std::vector<std::string>& event_ids,
                     const std::vector<StoreResult>& results);

}  // namespace hookgate
