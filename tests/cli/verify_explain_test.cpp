#include "cli/verify_explain.h"

#include <gmock/gmock.h>

#include "cli_test_support.h"
#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/hmac.h"
#include "providers/basic_auth.h"

namespace hookgate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kBody = R"({"id":"evt_1","note":"żółć","n":1.10})";
constexpr auto kOtherSecret = "whsec_another_invented_secret";
constexpr auto kEncodedSecret = "whsec_AAECaG9va2dhdGUtaW52ZW50ZWQ=";  // its bytes are no text
constexpr auto kAdyenBody =
    R"({"live":"false","notificationItems":[{"NotificationRequestItem":{"amount":{"currency":"EUR","value":1},)"
    R"("eventCode":"CAPTURE","eventDate":"2026-01-01T01:00:00+01:00","merchantAccountCode":"A","merchantReference":"r",)"
    R"("pspReference":"P","success":"true"}}]})";

class VerifyExplainTest : public ::testing::Test {
 protected:
  VerifySource source(const std::string& name, const std::string& provider,
                      const std::string& secret) {
    return source(name, provider, settings_with(secret));
  }
  VerifySource source(const std::string& name, const std::string& provider,
                      const ProviderSettings& settings) {
    made_.push_back(make_provider(provider, settings));
    return {name, made_.back().get(), provider, settings};
  }

  static InboundRequest signed_by(const std::string& provider, const std::string& secret,
                                  const std::string& body = kBody) {
    auto request = a_request("/webhooks/x", body);
    provider_with(provider, secret)->sign(request, kNow);
    return request;
  }

  std::string cause(const InboundRequest& request, const VerifySource& of,
                    const std::vector<VerifySource>& others = {}) {
    const auto report = explain_verdict(request, kNow, of, others);
    EXPECT_FALSE(report.accepted);
    return report.likeliest_cause;
  }

  static void set(InboundRequest& request, const std::string& name, const std::string& value) {
    std::erase_if(request.headers, [&](const Header& header) { return header.name == name; });
    request.headers.push_back({name, value});
  }

  static std::string mac(const std::string& key, const std::string& text) {
    return std::string{bytes_of(hmac_sha256(key, {text}))};
  }

  VerifySource stripe() { return source("stripe", "stripe", kStripeSecret); }
  VerifySource adyen() { return source("adyen", "adyen", kAdyenKey); }
  VerifySource standard() { return source("standard", "standard-webhooks", kStandardSecret); }

 private:
  std::vector<std::unique_ptr<Provider>> made_;
};

TEST_F(VerifyExplainTest, AcceptsTheGenuineAndNamesTheSecret) {
  auto settings = settings_with(kOtherSecret);
  settings.secrets.emplace_back(kStripeSecret);
  const auto report = explain_verdict(signed_by("stripe", kStripeSecret), kNow,
                                      source("stripe", "stripe", settings), {});
  EXPECT_TRUE(report.accepted);
  EXPECT_EQ(report.secret_index, 1U);
  EXPECT_EQ(report.likeliest_cause, "");
}

TEST_F(VerifyExplainTest, NamesTheFailedCheck) {
  const auto report = explain_verdict(signed_by("stripe", kOtherSecret), kNow, stripe(), {});
  EXPECT_EQ(report.failed_check, "signature-mismatch");
  EXPECT_EQ(report.detail, "no v1 matches a configured secret");
}

TEST_F(VerifyExplainTest, FindsTheSourceWhoseSecretMatches) {
  const auto other = source("shop-b", "stripe", kOtherSecret);
  EXPECT_THAT(cause(signed_by("stripe", kOtherSecret), stripe(), {standard(), other}),
              HasSubstr("right for the source 'shop-b' (stripe)"));
}

TEST_F(VerifyExplainTest, FindsTheSourceOfAnotherProvider) {
  EXPECT_THAT(cause(signed_by("stripe", kStripeSecret), adyen(), {stripe()}),
              HasSubstr("right for the source 'stripe'"));
}

TEST_F(VerifyExplainTest, FindsAnotherSourceOfAnOldCaptureToo) {
  auto request = signed_by("stripe", kOtherSecret);
  const auto other = source("shop-b", "stripe", kOtherSecret);
  const auto report = explain_verdict(request, kNow + std::chrono::days{30}, stripe(), {other});
  EXPECT_THAT(report.likeliest_cause, HasSubstr("'shop-b'"));
}

TEST_F(VerifyExplainTest, CallsNoSignatureRightForItsAgeAlone) {
  const auto request = signed_by("stripe", kOtherSecret);
  const auto report =
      explain_verdict(request, kNow + std::chrono::days{30}, adyen(), {stripe(), standard()});
  EXPECT_THAT(report.likeliest_cause, Not(HasSubstr("The signature is right")));
}

TEST_F(VerifyExplainTest, TellsAnAddedNewline) {
  auto request = signed_by("stripe", kStripeSecret);
  request.body += "\n";
  EXPECT_THAT(cause(request, stripe()), HasSubstr("a newline was added at its end"));
}

TEST_F(VerifyExplainTest, TellsAReEncodedBody) {
  auto request = signed_by("stripe", kStripeSecret, "{\n  \"b\": 1.10,\n  \"a\": \"é\"\n}");
  request.body = R"({"b":1.10,"a":"é"})";
  EXPECT_THAT(cause(request, stripe()),
              HasSubstr("parsed and written again: it was indented by two blanks"));
}

TEST_F(VerifyExplainTest, TellsAReEncodedBodyOfStandardWebhooks) {
  auto request = signed_by("standard-webhooks", kStandardSecret, R"({"a":"\u00e9"})");
  request.body = R"({"a":"é"})";
  EXPECT_THAT(cause(request, standard()), HasSubstr("\\u escapes"));
}

TEST_F(VerifyExplainTest, TellsHowOldASignatureIs) {
  const auto report = explain_verdict(signed_by("stripe", kStripeSecret),
                                      kNow + std::chrono::seconds{1000}, stripe(), {});
  EXPECT_EQ(report.failed_check, "timestamp-too-old");
  EXPECT_THAT(report.likeliest_cause, HasSubstr("signed 1000 s ago, and 300 s are allowed"));
  EXPECT_THAT(report.likeliest_cause, HasSubstr("--at 1767225600"));
}

TEST_F(VerifyExplainTest, TellsHowFarTheClockIsBehind) {
  const auto report = explain_verdict(signed_by("standard-webhooks", kStandardSecret),
                                      kNow - std::chrono::seconds{400}, standard(), {});
  EXPECT_EQ(report.failed_check, "timestamp-in-future");
  EXPECT_THAT(report.likeliest_cause, HasSubstr("400 s ahead of our clock"));
}

TEST_F(VerifyExplainTest, TellsAnAdyenSignatureInHex) {
  auto request = signed_by("adyen", kAdyenKey, kAdyenBody);
  const auto start = request.body.find("\"hmacSignature\":\"") + 17;
  const auto signature = request.body.substr(start, 44);
  request.body.replace(start, 44, hex_encode(base64_decode(signature).value()));
  EXPECT_THAT(cause(request, adyen()), HasSubstr("written in hex; adyen writes it in base64"));
}

TEST_F(VerifyExplainTest, TellsAStripeSignatureInBase64) {
  auto request = a_request("/a", kBody);
  const auto digest = mac(kStripeSecret, "1767225600." + std::string{kBody});
  set(request, "Stripe-Signature", "t=1767225600,v1=" + base64_encode(digest));
  EXPECT_THAT(cause(request, stripe()), HasSubstr("written in base64; stripe writes it in hex"));
}

TEST_F(VerifyExplainTest, TellsAnAdyenKeyUsedAsText) {
  std::string lower{kAdyenKey};
  for (auto& c : lower) c = c >= 'A' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& key : {std::string{kAdyenKey}, lower}) {
    auto request = signed_by("adyen", kAdyenKey, kAdyenBody);
    const auto start = request.body.find("\"hmacSignature\":\"") + 17;
    request.body.replace(start, 44, base64_encode(mac(key, "P::A:r:1:EUR:CAPTURE:true")));
    EXPECT_THAT(cause(request, adyen()), HasSubstr("signed with the text of the HMAC key"));
  }
}

TEST_F(VerifyExplainTest, TellsAnAdyenHeaderKeyUsedAsText) {
  auto settings = settings_with(kAdyenKey);
  settings.scheme = "header";
  auto request = a_request("/a", kBody);
  set(request, "HmacSignature", base64_encode(mac(kAdyenKey, kBody)));
  EXPECT_THAT(cause(request, source("adyen", "adyen", settings)),
              HasSubstr("signed with the text of the HMAC key"));
}

TEST_F(VerifyExplainTest, TellsTheOtherSchemeOfAdyen) {
  auto request = a_request("/a", kBody);
  set(request, "HmacSignature", base64_encode(mac(*hex_decode(kAdyenKey), kBody)));
  EXPECT_THAT(cause(request, adyen()), HasSubstr("set scheme = \"header\" for the source 'adyen'"));
}

TEST_F(VerifyExplainTest, TellsAStripeSecretThatWasDecoded) {
  auto request = a_request("/a", kBody);
  const auto key = base64_decode(std::string{kEncodedSecret}.substr(6)).value();
  const auto digest = mac(key, "1767225600." + std::string{kBody});
  set(request, "Stripe-Signature", "t=1767225600,v1=" + hex_encode(digest));
  EXPECT_THAT(cause(request, source("stripe", "stripe", kEncodedSecret)),
              HasSubstr("decoded from base64, as Standard Webhooks does"));
}

TEST_F(VerifyExplainTest, TellsAStripeSecretWithoutItsPrefix) {
  const auto bare = std::string{kStripeSecret}.substr(6);
  EXPECT_THAT(cause(signed_by("stripe", bare), stripe()), HasSubstr("without its prefix"));
  EXPECT_THAT(cause(signed_by("stripe", kStripeSecret), source("stripe", "stripe", bare)),
              HasSubstr("the configured one lacks it"));
}

TEST_F(VerifyExplainTest, TellsAStandardSecretUsedAsText) {
  const std::string secret{kStandardSecret};
  const auto as_key = [](const std::string& text) { return "whsec_" + base64_encode(text); };
  EXPECT_THAT(cause(signed_by("standard-webhooks", as_key(secret)), standard()),
              HasSubstr("the text of the secret, 'whsec_' included"));
  EXPECT_THAT(cause(signed_by("standard-webhooks", as_key(secret.substr(6))), standard()),
              HasSubstr("the text after 'whsec_'"));
}

TEST_F(VerifyExplainTest, TellsARequestOfAnotherProvider) {
  EXPECT_THAT(cause(signed_by("stripe", kOtherSecret), standard()),
              HasSubstr("header Stripe-Signature, so it comes from stripe"));
}

TEST_F(VerifyExplainTest, TellsAMissingSignature) {
  const auto report = explain_verdict(a_request("/a", kBody), kNow, stripe(), {standard()});
  EXPECT_EQ(report.failed_check, "signature-missing");
  EXPECT_THAT(report.likeliest_cause, HasSubstr("Nobody signed this request"));
}

TEST_F(VerifyExplainTest, TellsMissingCredentials) {
  const auto guarded = with_basic_auth(provider_with("adyen", kAdyenKey), Secret{"u"}, Secret{"p"});
  auto of = adyen();
  of.provider = guarded.get();
  EXPECT_THAT(cause(signed_by("adyen", kAdyenKey, kAdyenBody), of), HasSubstr("basic_auth"));
}

TEST_F(VerifyExplainTest, SaysSoWhenNothingExplainsIt) {
  EXPECT_THAT(cause(signed_by("stripe", kOtherSecret), stripe(), {adyen(), standard()}),
              HasSubstr("None of the usual mistakes explains it"));
}

TEST_F(VerifyExplainTest, ShowsNoSecretAndNoSignature) {
  auto request = signed_by("stripe", kOtherSecret);
  const auto signature = std::string{*request.header("Stripe-Signature")}.substr(16);
  const auto other = source("shop-b", "stripe", kOtherSecret);
  for (const auto& text : {cause(request, stripe(), {other}), cause(request, stripe())}) {
    EXPECT_THAT(text, Not(HasSubstr("invented")));
    EXPECT_THAT(text, Not(HasSubstr(signature)));
  }
}

}  // namespace
}  // namespace hookgate
