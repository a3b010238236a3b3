#pragma once

#include <chrono>
#include <string>

#include "domain/http_url.h"
#include "domain/secret.h"

namespace hookgate {

// What the keys of a [[handler]] of the kind "forward" say.
struct ForwardSettings {
  HttpUrl url;
  Secret secret;                              // "whsec_" and base64; signs what is sent
  std::chrono::milliseconds timeout{10'000};  // of a whole try
  int concurrency = 4;                        // tries at once, in one process
  int max_attempts = 20;                      // then the message is dead
  bool ordered = false;                       // one message of a subject after the other
  bool refuse_private_addresses = false;
};

}  // namespace hookgate
