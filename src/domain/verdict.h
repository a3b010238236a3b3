#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace hookgate {

// Why a request was refused. The names are a closed set: they label metrics and reach the sender.
enum class RejectReason {
  kSignatureMissing,
  kSignatureMalformed,
  kSignatureMismatch,
  kTimestampMalformed,
  kTimestampTooOld,
  kTimestampInFuture,
  kBodyUnreadable,      // the body must be read to be verified and cannot be
  kCredentialsMissing,  // basic authentication is configured and did not come
  kCredentialsMismatch,
  kKeyMissing,    // a client of our own sent no Idempotency-Key
  kKeyMalformed,  // or one that cannot be a key
};

// "signature-missing", ...
std::string_view reason_code(RejectReason reason);

// 400 where the request cannot be judged, 401 where it was judged and refused.
int http_status(RejectReason reason);

struct Verified {
  std::size_t secret_index =
      0;  // which configured secret matched, so that an old one can be retired
};

struct Rejected {
  RejectReason reason;
  std::string detail;  // for the log and `hookgate verify`; never sent out, never holds a secret
};

using Verdict = std::variant<Verified, Rejected>;

}  // namespace hookgate
