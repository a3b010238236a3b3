#include "providers/basic_auth.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "provider_test_support.h"
#include "providers/adyen.h"

namespace hookgate {
namespace {

class BasicAuthTest : public testing::Test {
 protected:
  // A signed request with these Authorization headers.
  InboundRequest request(const std::vector<std::string>& authorizations) const {
    auto made = a_request(R"({"type":"x"})");
    inner_.sign(made, kNow);
    for (const auto& value : authorizations) made.headers.push_back({"authorization", value});
    return made;
  }
  Verdict verdict(const std::vector<std::string>& authorizations) const {
    return provider_->verify(request(authorizations), kNow);
  }

  AdyenHeader inner_{with_secrets({std::string(64, 'A')})};
  std::unique_ptr<Provider> provider_ =
      with_basic_auth(std::make_unique<AdyenHeader>(with_secrets({std::string(64, 'A')})),
                      Secret{"us\xC3\xA9r"}, Secret{"pass:word"});
  std::string right_ = "Basic dXPDqXI6cGFzczp3b3Jk";
};

TEST_F(BasicAuthTest, AcceptsTheConfiguredCredentials) {
  EXPECT_TRUE(is_accepted(verdict({right_})));
  EXPECT_TRUE(is_accepted(verdict({"basic   dXPDqXI6cGFzczp3b3Jk "})));
}

TEST_F(BasicAuthTest, FindsCredentialsMissing) {
  EXPECT_EQ(reason_of(verdict({})), RejectReason::kCredentialsMissing);
}

TEST_F(BasicAuthTest, RefusesOtherCredentials) {
  for (const std::string wrong : {"", "Basic", "Basic ", "Basic dXPDqXI6cGFzczp3b3Jl",
                                  "Basic dXPDqXI6cGFzczp3b3JkIQ==", "Bearer dXPDqXI6cGFzczp3b3Jk",
                                  "BasicXdXPDqXI6cGFzczp3b3Jk", "Basic not base64"}) {
    EXPECT_EQ(reason_of(verdict({wrong})), RejectReason::kCredentialsMismatch) << wrong;
  }
}

TEST_F(BasicAuthTest, RefusesSeveralHeadersThoughOneIsRight) {
  EXPECT_EQ(reason_of(verdict({right_, right_})), RejectReason::kCredentialsMismatch);
}

TEST_F(BasicAuthTest, StillNeedsTheSignature) {
  auto unsigned_request = a_request("{}", {{"Authorization", right_}});
  EXPECT_EQ(reason_of(provider_->verify(unsigned_request, kNow)), RejectReason::kSignatureMissing);
}

TEST_F(BasicAuthTest, JudgesTheHeadByItsCredentialsAndThenByTheProvider) {
  const auto reason_by_head = [&](const InboundRequest& made) {
    EXPECT_TRUE(agrees_with_its_head(*provider_, made, kNow));
    return reason_of(provider_->refuse_by_head(head_of(made), kNow));
  };
  EXPECT_EQ(reason_by_head(request({})), RejectReason::kCredentialsMissing);
  EXPECT_EQ(reason_by_head(request({"Basic dXNlcg=="})), RejectReason::kCredentialsMismatch);
  EXPECT_EQ(reason_by_head(a_request("{}")), RejectReason::kCredentialsMissing);
  EXPECT_EQ(reason_by_head(a_request("{}", {{"Authorization", right_}})),
            RejectReason::kSignatureMissing);
  EXPECT_EQ(reason_by_head(request({right_})), std::nullopt);
}

TEST_F(BasicAuthTest, SignsWithCredentials) {
  auto fresh = a_request("{}");
  provider_->sign(fresh, kNow);
  EXPECT_EQ(fresh.header("Authorization"), right_);
  EXPECT_TRUE(is_accepted(provider_->verify(fresh, kNow)));
}

TEST_F(BasicAuthTest, IsOtherwiseTheProviderInside) {
  EXPECT_EQ(provider_->name(), "adyen");
  EXPECT_EQ(provider_->success_body(), "[accepted]");
  EXPECT_EQ(provider_->redelivery_horizon(), inner_.redelivery_horizon());
  EXPECT_EQ(provider_->events(request({})).size(), 1U);
}

TEST_F(BasicAuthTest, RefusesCredentialsThatAreNone) {
  const auto refuses = [](const std::string& user, const std::string& password) {
    EXPECT_THROW(
        with_basic_auth(std::make_unique<AdyenHeader>(with_secrets({std::string(64, 'A')})),
                        Secret{user}, Secret{password}),
        InvalidProviderSettings);
  };
  refuses("", "password");
  refuses("user", "");
  refuses("us:er", "password");
}

}  // namespace
}  // namespace hookgate
