#include "providers/stripe.h"

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/hmac.h"
#include "provider_test_support.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kSecret = "whsec_invented_for_tests_only";
constexpr const char* kBody = R"({"id":"evt_test_1","object":"event"})";
// Of kBody at kNow; made with Python's hmac module.
const std::string kSignature = "ffec4c9edad7684a209286617cf46d6ec150a6757d469fc0c8743222075c5b80";
const std::string kZeros(64, '0');

std::string upper_case(std::string text) {
  for (auto& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

class StripeTest : public testing::Test {
 protected:
  Verdict verdict(const std::string& header, const std::string& body = kBody,
                  SystemTime now = kNow) const {
    return stripe_.verify(a_request(body, {{"Stripe-Signature", header}}), now);
  }

  // Of the body, signed over `timestamp` as it is.
  Verdict verdict_at(const std::string& timestamp, SystemTime now = kNow) const {
    const auto mac = hmac_sha256(kSecret, {timestamp, ".", kBody});
    return verdict("t=" + timestamp + ",v1=" + hex_encode(bytes_of(mac)), kBody, now);
  }

  NewEvent event(const std::string& body) const {
    const auto events = stripe_.events(a_request(body));
    EXPECT_EQ(events.size(), 1U);
    return events.at(0);
  }

  Stripe stripe_{with_secrets({kSecret})};
};

TEST_F(StripeTest, AcceptsAKnownSignature) {
  EXPECT_EQ(secret_of(verdict("t=1767225600,v1=" + kSignature)), 0U);
}

TEST_F(StripeTest, FindsTheHeaderInAnyLetterCase) {
  const auto request = a_request(kBody, {{"sTRIPE-sIGNATURE", "t=1767225600,v1=" + kSignature}});
  EXPECT_TRUE(is_accepted(stripe_.verify(request, kNow)));
}

TEST_F(StripeTest, AcceptsElementsInAnyOrderWithBlanksAndUnknownSchemes) {
  EXPECT_TRUE(is_accepted(verdict("v1=" + kSignature + ",t=1767225600")));
  EXPECT_TRUE(is_accepted(verdict(" t=1767225600, v1=" + kSignature + " , v0=" + kZeros)));
  EXPECT_TRUE(is_accepted(verdict("t=1767225600,v9=x,broken,,v1=" + kSignature + ",")));
}

TEST_F(StripeTest, AcceptsWhenAnyOfSeveralSignaturesMatches) {
  EXPECT_TRUE(is_accepted(verdict("t=1767225600,v1=" + kSignature + ",v1=" + kZeros)));
  EXPECT_TRUE(is_accepted(verdict("t=1767225600,v1=" + kZeros + ",v1=" + kSignature)));
  EXPECT_TRUE(is_accepted(verdict("t=1767225600,v1=zz,v1=" + kSignature)));
}

TEST_F(StripeTest, AcceptsUpperCaseHex) {
  EXPECT_TRUE(is_accepted(verdict("t=1767225600,v1=" + upper_case(kSignature))));
}

TEST_F(StripeTest, NamesTheSecretThatMatched) {
  const Stripe rotating{with_secrets({"whsec_invented_newer", kSecret})};
  const auto request = a_request(kBody, {{"Stripe-Signature", "t=1767225600,v1=" + kSignature}});
  EXPECT_EQ(secret_of(rotating.verify(request, kNow)), 1U);
}

TEST_F(StripeTest, UsesTheWholeTextOfTheSecretAsItsKey) {
  const Stripe without_prefix{with_secrets({"invented_for_tests_only"})};
  const auto request = a_request(kBody, {{"Stripe-Signature", "t=1767225600,v1=" + kSignature}});
  EXPECT_EQ(reason_of(without_prefix.verify(request, kNow)), RejectReason::kSignatureMismatch);
}

TEST_F(StripeTest, RefusesAnotherBody) {
  const auto header = "t=1767225600,v1=" + kSignature;
  EXPECT_EQ(reason_of(verdict(header, std::string{kBody} + "\n")),
            RejectReason::kSignatureMismatch);
  EXPECT_EQ(reason_of(verdict(header, "")), RejectReason::kSignatureMismatch);
}

TEST_F(StripeTest, RefusesAnotherTimestampThanTheSignedOne) {
  EXPECT_EQ(reason_of(verdict("t=1767225601,v1=" + kSignature)), RejectReason::kSignatureMismatch);
}

TEST_F(StripeTest, FindsNoSignatureWithoutTheHeader) {
  EXPECT_EQ(reason_of(stripe_.verify(a_request(kBody), kNow)), RejectReason::kSignatureMissing);
  EXPECT_EQ(reason_of(verdict("")), RejectReason::kSignatureMissing);
  EXPECT_EQ(reason_of(verdict(" \t")), RejectReason::kSignatureMissing);
}

TEST_F(StripeTest, NeverFallsBackToAnotherScheme) {
  EXPECT_EQ(reason_of(verdict("t=1767225600,v0=" + kSignature)), RejectReason::kSignatureMissing);
  EXPECT_EQ(reason_of(verdict("t=1767225600,V1=" + kSignature)), RejectReason::kSignatureMissing);
}

TEST_F(StripeTest, RefusesSeveralHeaderLinesThoughOneIsRight) {
  const auto right = "t=1767225600,v1=" + kSignature;
  const auto request = a_request(kBody, {{"Stripe-Signature", right}, {"stripe-signature", right}});
  EXPECT_EQ(reason_of(stripe_.verify(request, kNow)), RejectReason::kSignatureMalformed);
}

TEST_F(StripeTest, RefusesATimestampGivenTwice) {
  EXPECT_EQ(reason_of(verdict("t=1767225600,t=1767225600,v1=" + kSignature)),
            RejectReason::kSignatureMalformed);
}

TEST_F(StripeTest, RefusesMoreThanSixteenElements) {
  std::string header = "t=1767225600,v1=" + kSignature;
  for (int i = 0; i < 14; ++i) header += ",v1=" + kZeros;
  EXPECT_TRUE(is_accepted(verdict(header)));
  EXPECT_EQ(reason_of(verdict(header + ",v1=" + kZeros)), RejectReason::kSignatureMalformed);
}

TEST_F(StripeTest, RefusesAHeaderOfMoreThan4096Bytes) {
  const auto header = "t=1767225600,v1=" + kSignature + ",x=";
  const std::string filler(4096 - header.size(), 'x');
  EXPECT_TRUE(is_accepted(verdict(header + filler)));
  EXPECT_EQ(reason_of(verdict(header + filler + "x")), RejectReason::kSignatureMalformed);
}

class StripeBadSignatureTest : public StripeTest,
                               public testing::WithParamInterface<std::string> {};

TEST_P(StripeBadSignatureTest, IsMalformed) {
  EXPECT_EQ(reason_of(verdict("t=1767225600,v1=" + GetParam())), RejectReason::kSignatureMalformed);
}

INSTANTIATE_TEST_SUITE_P(Stripe, StripeBadSignatureTest,
                         testing::Values("", "00", kSignature.substr(0, 63), kSignature + "0",
                                         kSignature + "00", kSignature + "\xC3\xA9",
                                         kSignature + "=", " " + kSignature,
                                         "/+xMntrXaEoge=", std::string(64, 'z')),
                         [](const auto& row) { return "Value" + std::to_string(row.index); });

class StripeBadTimestampTest : public StripeTest,
                               public testing::WithParamInterface<std::string> {};

TEST_P(StripeBadTimestampTest, IsMalformedEvenIfSigned) {
  EXPECT_EQ(reason_of(verdict_at(GetParam())), RejectReason::kTimestampMalformed);
}

INSTANTIATE_TEST_SUITE_P(Stripe, StripeBadTimestampTest,
                         testing::Values("", "NaN", "1767225600x", "01767225600", "+1767225600",
                                         "-1767225600", "1767225600.5", "1767225600000", "1e9",
                                         " 1767225600", std::string(400, '9')),
                         [](const auto& row) { return "Value" + std::to_string(row.index); });

TEST_F(StripeTest, CallsAHeaderWithoutTimestampMalformed) {
  EXPECT_EQ(reason_of(verdict("v1=" + kSignature)), RejectReason::kTimestampMalformed);
}

TEST_F(StripeTest, CallsAHeaderWithNeitherTimestampNorSignatureMalformed) {
  EXPECT_EQ(reason_of(verdict("garbage")), RejectReason::kSignatureMalformed);
  EXPECT_EQ(reason_of(verdict("=,=")), RejectReason::kSignatureMalformed);
}

TEST_F(StripeTest, AcceptsAgesUpToTheToleranceOnBothSides) {
  EXPECT_TRUE(is_accepted(verdict_at("1767225600", kNow + seconds{300})));
  EXPECT_TRUE(is_accepted(verdict_at("1767225600", kNow + seconds{300} + milliseconds{999})));
  EXPECT_TRUE(is_accepted(verdict_at("1767225600", kNow - seconds{300})));
}

TEST_F(StripeTest, RefusesAgesBeyondTheTolerance) {
  EXPECT_EQ(reason_of(verdict_at("1767225600", kNow + seconds{301})),
            RejectReason::kTimestampTooOld);
  EXPECT_EQ(reason_of(verdict_at("1767225600", kNow - seconds{301})),
            RejectReason::kTimestampInFuture);
  EXPECT_EQ(reason_of(verdict_at("0")), RejectReason::kTimestampTooOld);
  EXPECT_EQ(reason_of(verdict_at("999999999999")), RejectReason::kTimestampInFuture);
}

// The head shows the time, so that no body need be read for it.
TEST_F(StripeTest, TellsAnOldTimeBeforeAWrongSignature) {
  EXPECT_EQ(reason_of(verdict("t=1,v1=" + kZeros)), RejectReason::kTimestampTooOld);
}

TEST_F(StripeTest, RefusesAnEmptyBodyThoughSigned) {
  const auto mac = hmac_sha256(kSecret, {"1767225600."});
  EXPECT_EQ(reason_of(verdict("t=1767225600,v1=" + hex_encode(bytes_of(mac)), "")),
            RejectReason::kBodyUnreadable);
}

TEST_F(StripeTest, SignsAsTheSenderWouldReplacingWhatIsThere) {
  const Stripe two{with_secrets({kSecret, "whsec_invented_older"})};
  auto request = a_request(kBody, {{"stripe-signature", "old"}, {"Stripe-Signature", "older"}});
  two.sign(request, kNow);
  ASSERT_EQ(request.header_count("Stripe-Signature"), 1U);
  EXPECT_EQ(request.header("Stripe-Signature"), "t=1767225600,v1=" + kSignature);
}

TEST_F(StripeTest, RefusesSettingsThatCannotVerify) {
  EXPECT_EQ(refused_secret<Stripe>(with_secrets({})), -1);
  EXPECT_EQ(refused_secret<Stripe>(with_secrets({kSecret, ""})), 1);
  EXPECT_EQ(refused_secret<Stripe>(with_secrets({" \t"})), 0);
  EXPECT_EQ(refused_secret<Stripe>(with_secrets({"whsec_a b"})), 0);
  EXPECT_EQ(refused_secret<Stripe>(with_secrets({"whsec_a\n"})), 0);
  EXPECT_EQ(refused_secret<Stripe>(with_secrets({"whsec_\xC3\xA9"})), std::nullopt);
}

TEST_F(StripeTest, RefusesAToleranceThatWouldSwitchTheAgeOff) {
  auto settings = with_secrets({kSecret});
  settings.tolerance = seconds{0};
  EXPECT_EQ(refused_secret<Stripe>(settings), -1);
  settings.tolerance = seconds{-1};
  EXPECT_EQ(refused_secret<Stripe>(settings), -1);
}

TEST_F(StripeTest, NeverNamesTheSecretItRefuses) {
  try {
    Stripe stripe{with_secrets({"whsec_invented with blanks"})};
    FAIL();
  } catch (const InvalidProviderSettings& invalid) {
    EXPECT_EQ(std::string{invalid.what()}.find("invented"), std::string::npos);
  }
}

constexpr const char* kPayment = R"({
  "id": "evt_test_2", "object": "event", "account": "acct_test", "created": 1767225590,
  "livemode": true, "pending_webhooks": 2, "type": "payment_intent.succeeded",
  "data": {"object": {"id": "pi_test_1", "object": "payment_intent", "amount": 1099}}
})";

TEST_F(StripeTest, ReadsASnapshotEvent) {
  const auto read = event(kPayment);
  EXPECT_EQ(read.event_id, "evt_test_2");
  EXPECT_EQ(read.scope, "acct_test");
  EXPECT_EQ(read.event_type, "payment_intent.succeeded");
  EXPECT_EQ(read.subject, "pi_test_1");
  EXPECT_EQ(read.occurred_at, kNow - seconds{10});
  EXPECT_EQ(read.live, true);
  EXPECT_EQ(read.unusable, "");
}

TEST_F(StripeTest, ReadsAThinEvent) {
  const auto read =
      event(R"({"id":"evt_thin","object":"v2.core.event","type":"v1.payment_intent.succeeded",)"
            R"("created":"2026-01-01T00:00:00.123Z","livemode":false,"context":null,)"
            R"("related_object":{"id":"pi_test_1","type":"payment_intent"}})");
  EXPECT_EQ(read.event_id, "evt_thin");
  EXPECT_EQ(read.scope, "");
  EXPECT_EQ(read.subject, "pi_test_1");
  EXPECT_EQ(read.occurred_at, kNow + milliseconds{123});
  EXPECT_EQ(read.live, false);
}

struct SubjectCase {
  const char* name;
  const char* object;
  const char* subject;
};

void PrintTo(const SubjectCase& row, std::ostream* out) {
  *out << row.name;
}

class StripeSubjectTest : public StripeTest, public testing::WithParamInterface<SubjectCase> {};

TEST_P(StripeSubjectTest, IsThePaymentWhereThereIsOne) {
  EXPECT_EQ(
      event(std::string{R"({"id":"evt_1","data":{"object":)"} + GetParam().object + "}}").subject,
      GetParam().subject);
}

INSTANTIATE_TEST_SUITE_P(
    Stripe, StripeSubjectTest,
    testing::Values(
        SubjectCase{"OfACharge", R"({"id":"ch_1","object":"charge","payment_intent":"pi_1"})",
                    "pi_1"},
        SubjectCase{"ExpandedInARefund",
                    R"({"id":"re_1","object":"refund","payment_intent":{"id":"pi_1"}})", "pi_1"},
        SubjectCase{"NullInACharge", R"({"id":"ch_1","object":"charge","payment_intent":null})",
                    "ch_1"},
        SubjectCase{"AbsentFromAPayout", R"({"id":"po_1","object":"payout"})", "po_1"},
        SubjectCase{"AbsentFromABalance", R"({"object":"balance"})", ""},
        SubjectCase{"OfTheIntentItself",
                    R"({"id":"pi_1","object":"payment_intent","payment_intent":"pi_2"})", "pi_1"}),
    [](const auto& row) { return row.param.name; });

TEST_F(StripeTest, GivesRedeliveriesOneContent) {
  const auto first = event(kPayment);
  const auto again =
      event(replaced(kPayment, "\"pending_webhooks\": 2", "\"pending_webhooks\": 0"));
  EXPECT_EQ(first.content, again.content);
  EXPECT_EQ(first.signed_content, again.signed_content);
}

TEST_F(StripeTest, GivesOtherDataOtherContent) {
  const auto other = event(replaced(kPayment, "1099", "1100"));
  EXPECT_NE(event(kPayment).content, other.content);
  EXPECT_NE(event(kPayment).signed_content, other.signed_content);
}

TEST_F(StripeTest, LeavesATimeOutThatNoColumnHolds) {
  EXPECT_EQ(event(R"({"id":"evt_1","created":99999999999999})").occurred_at, std::nullopt);
  EXPECT_EQ(event(R"({"id":"evt_1","created":-5})").occurred_at, std::nullopt);
  EXPECT_EQ(event(R"({"id":"evt_1","created":"soon"})").occurred_at, std::nullopt);
}

TEST_F(StripeTest, CleansTextsForTheirColumns) {
  const auto read = event(R"({"id":"evt_1","type":"a\u0000b","account":7})");
  EXPECT_EQ(read.event_type,
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(read.scope, "");
  EXPECT_EQ(event(R"({"id":"evt_1","type":")" + std::string(400, 'x') + "\"}").event_type.size(),
            255U);
}

TEST_F(StripeTest, TakesAnIdOf255Bytes) {
  const std::string id(255, 'e');
  EXPECT_EQ(event("{\"id\":\"" + id + "\"}").event_id, id);
}

class StripeUnusableTest : public StripeTest, public testing::WithParamInterface<std::string> {};

TEST_P(StripeUnusableTest, IsOneEventKeyedByItsBytes) {
  const auto read = event(GetParam());
  EXPECT_NE(read.unusable, "");
  EXPECT_EQ(read.event_id, "sha256:" + hex_encode(bytes_of(sha256(GetParam()))));
  EXPECT_EQ(read.event_type, "");
}

INSTANTIATE_TEST_SUITE_P(Stripe, StripeUnusableTest,
                         testing::Values("no json", "[]", "null", "{}", R"({"id":7})",
                                         R"({"id":""})", R"({"id":"a\u0000b"})",
                                         "{\"id\":\"\xFF\"}",
                                         "{\"id\":\"" + std::string(256, 'e') + "\"}",
                                         std::string(100, '[')),
                         [](const auto& row) { return "Body" + std::to_string(row.index); });

TEST_F(StripeTest, MustBeRememberedLongerThanAManualResend) {
  EXPECT_EQ(stripe_.redelivery_horizon(), std::chrono::days{35});
  EXPECT_EQ(stripe_.success_body(), "");
}

}  // namespace
}  // namespace hookgate
