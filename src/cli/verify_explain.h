#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "domain/http_message.h"
#include "domain/provider.h"
#include "domain/time.h"

namespace hookgate {

// The source a request was sent to. `provider` judges as the gateway does, basic authentication
// included; `provider_name` and `settings` are what it was made from, to try altered secrets.
struct VerifySource {
  std::string name;
  const Provider* provider = nullptr;  // outlives the call
  std::string provider_name;
  ProviderSettings settings;
};

struct VerifyReport {
  bool accepted = false;
  std::size_t secret_index = 0;  // of an accepted one
  std::string failed_check;      // reason_code of the refusal, "" if accepted
  std::string detail;            // what the provider said
  std::string likeliest_cause;   // one or two sentences, with what to do; "" if accepted
};

// Judges `request` as `source` would at `now`; when it is refused, tries the usual mistakes one by
// one and names the first that explains it: another source's secret; an altered body; a secret or a
// signature in the wrong form; a clock. `others` are the other configured sources. No text holds a
// secret or a signature. Pure: nothing is read or sent.
VerifyReport explain_verdict(const InboundRequest& request, SystemTime now,
                             const VerifySource& source, const std::vector<VerifySource>& others);

}  // namespace hookgate
