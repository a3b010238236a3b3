#include "domain/verdict.h"

namespace hookgate {

std::string_view reason_code(RejectReason reason) {
  switch (reason) {
    case RejectReason::kSignatureMissing: return "signature-missing";
    case RejectReason::kSignatureMalformed: return "signature-malformed";
    case RejectReason::kSignatureMismatch: return "signature-mismatch";
    case RejectReason::kTimestampMalformed: return "timestamp-malformed";
    case RejectReason::kTimestampTooOld: return "timestamp-too-old";
    case RejectReason::kTimestampInFuture: return "timestamp-in-future";
    case RejectReason::kBodyUnreadable: return "body-unreadable";
    case RejectReason::kCredentialsMissing: return "credentials-missing";
    case RejectReason::kCredentialsMismatch: return "credentials-mismatch";
    case RejectReason::kKeyMissing: return "idempotency-key-missing";
    case RejectReason::kKeyMalformed: return "idempotency-key-malformed";
  }
  return "unknown";
}

int http_status(RejectReason reason) {
  switch (reason) {
    case RejectReason::kSignatureMalformed:
    case RejectReason::kTimestampMalformed:
    case RejectReason::kKeyMissing:
    case RejectReason::kKeyMalformed:
    case RejectReason::kBodyUnreadable: return 400;
    default: return 401;
  }
}

}  // namespace hookgate
