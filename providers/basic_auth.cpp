#include "providers/basic_auth.h"

#include <optional>
#include <string>
#include <utility>

#include "crypto/constant_time.h"
#include "crypto/encoding.h"
#include "domain/http_message.h"
#include "providers/provider_support.h"

namespace hookgate {
namespace {

constexpr std::string_view kHeader = "Authorization";
constexpr std::string_view kScheme = "Basic ";

class WithBasicAuth final : public Provider {
 public:
  WithBasicAuth(std::unique_ptr<Provider> provider, std::string credentials)
      : provider_(std::move(provider)), credentials_(std::move(credentials)) {}

  std::string_view name() const override { return provider_->name(); }
  std::vector<NewEvent> events(const InboundRequest& request) const override {
    return provider_->events(request);
  }
  bool has_client_keys() const override { return provider_->has_client_keys(); }
  std::string_view success_body() const override { return provider_->success_body(); }
  std::chrono::hours redelivery_horizon() const override { return provider_->redelivery_horizon(); }

  Verdict verify(const InboundRequest& request, SystemTime now) const override {
    if (auto rejected = judge_credentials(request)) return *std::move(rejected);
    return provider_->verify(request, now);
  }

  std::optional<Rejected> refuse_by_head(const InboundRequest& head,
                                         SystemTime now) const override {
    if (auto rejected = judge_credentials(head)) return rejected;
    return provider_->refuse_by_head(head, now);
  }

  void sign(InboundRequest& request, SystemTime now) const override {
    provider_->sign(request, now);
    set_header(request, kHeader, std::string{kScheme} + base64_encode(credentials_.reveal()));
  }

 private:
  std::optional<Rejected> judge_credentials(const InboundRequest& head) const {
    if (head.header_count(kHeader) == 0) {
      return Rejected{RejectReason::kCredentialsMissing, "no header Authorization"};
    }
    if (!has_credentials(head)) {
      return Rejected{RejectReason::kCredentialsMismatch, "other credentials than the configured"};
    }
    return std::nullopt;
  }

  bool has_credentials(const InboundRequest& request) const {
    const auto header = strip_blanks(request.header(kHeader).value_or(""));
    if (request.header_count(kHeader) != 1) return false;
    if (!equal_ignoring_case(header.substr(0, kScheme.size()), kScheme)) return false;
    const auto decoded = base64_decode(strip_blanks(header.substr(kScheme.size())));
    return decoded && equal_in_constant_time(*decoded, credentials_.reveal());
  }

  std::unique_ptr<Provider> provider_;
  Secret credentials_;  // "user:password"
};

}  // namespace

std::unique_ptr<Provider> with_basic_auth(std::unique_ptr<Provider> provider, const Secret& user,
                                          const Secret& password) {
  if (user.empty() || password.empty()) {
    throw InvalidProviderSettings(-1, "basic_auth needs a user and a password");
  }
  if (user.reveal().find(':') != std::string::npos) {
    throw InvalidProviderSettings(-1, "the user of basic_auth holds a ':', which would end it");
  }
  return std::make_unique<WithBasicAuth>(std::move(provider),
                                         user.reveal() + ":" + password.reveal());
}

}  // namespace hookgate
