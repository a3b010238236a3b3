#include "cli/sign.h"

#include <sstream>

#include <gmock/gmock.h>

#include "cli/fixture_file.h"
#include "cli_test_support.h"

namespace hookgate {
namespace {

class SignTest : public CliTest {
 protected:
  InboundRequest signed_fixture(const std::string& bytes, const Provider& provider) {
    std::ostringstream out;
    write_signed_fixture(write("a.http", bytes), provider, kNow, out);
    return parse_fixture(out.str(), "out");
  }
};

TEST_F(SignTest, WritesTheFixtureWithASignatureThatHolds) {
  const auto stripe = provider_with("stripe", kStripeSecret);
  const auto request = signed_fixture("POST /webhooks/stripe HTTP/1.1\n\n{}\n", *stripe);
  EXPECT_EQ(request.body, "{}\n");
  EXPECT_TRUE(std::holds_alternative<Verified>(stripe->verify(request, kNow)));
}

TEST_F(SignTest, ReplacesAnOldSignature) {
  const auto stripe = provider_with("stripe", kStripeSecret);
  const auto request =
      signed_fixture("POST /a HTTP/1.1\nstripe-signature: t=1,v1=00\n\n{}", *stripe);
  EXPECT_EQ(request.header_count("Stripe-Signature"), 1U);
}

}  // namespace
}  // namespace hookgate
