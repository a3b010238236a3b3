#include "providers/standard_webhooks.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/hmac.h"
#include "provider_test_support.h"

namespace hookgate {
namespace {

using std::chrono::seconds;

// Invented. The signatures were made with Python's hmac module and the openssl command.
constexpr const char* kSecret = "whsec_aW52ZW50ZWQtZm9yLXRlc3RzLW9ubHktMDAwMQ==";
constexpr const char* kPublicKey = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";
constexpr const char* kBody = R"({"type":"invoice.paid"})";
const std::string kHmac = "v1,g5YXqOQkeDJLPHa2o/oJ75pX7Kq+yvvyMYcdGDv7btA=";
const std::string kEd25519 =
    "v1a,qT4Wc7KwkI6GR63gNi+OEc2hUqBUePvTwHp6ggvnaf8y0fYF+bQCFJHG1KptVmYaP7L3x3DmGT6QzDpYk49YAA==";
const std::string kOther = "v1," + base64_encode(std::string(32, '\0'));

class StandardWebhooksTest : public testing::Test {
 protected:
  static InboundRequest request(const std::string& signatures, const std::string& body = kBody) {
    return a_request(body, {{"webhook-id", "msg_test_1"},
                            {"webhook-timestamp", "1767225600"},
                            {"webhook-signature", signatures}});
  }
  Verdict verdict(const std::string& signatures, const std::string& body = kBody) const {
    return standard_.verify(request(signatures, body), kNow);
  }
  // Of headers that are signed right.
  Verdict verdict_of(const std::string& id, const std::string& timestamp,
                     SystemTime now = kNow) const {
    const auto mac = hmac_sha256("invented-for-tests-only-0001", {id, ".", timestamp, ".", kBody});
    return standard_.verify(
        a_request(kBody, {{"webhook-id", id},
                          {"webhook-timestamp", timestamp},
                          {"webhook-signature", "v1," + base64_encode(bytes_of(mac))}}),
        now);
  }
  NewEvent event(const std::string& body) const {
    const auto events = standard_.events(request(kHmac, body));
    EXPECT_EQ(events.size(), 1U);
    return events.at(0);
  }

  StandardWebhooks standard_{with_secrets({kSecret})};
  StandardWebhooks by_public_key_{with_secrets({kPublicKey})};
};

TEST_F(StandardWebhooksTest, AcceptsAKnownHmac) {
  EXPECT_EQ(secret_of(verdict(kHmac)), 0U);
}

TEST_F(StandardWebhooksTest, AcceptsAKnownEd25519Signature) {
  EXPECT_EQ(secret_of(by_public_key_.verify(request(kEd25519), kNow)), 0U);
}

TEST_F(StandardWebhooksTest, AcceptsASecretWithoutItsPrefix) {
  const StandardWebhooks bare{with_secrets({std::string{kSecret}.substr(6)})};
  EXPECT_TRUE(is_accepted(bare.verify(request(kHmac), kNow)));
}

TEST_F(StandardWebhooksTest, NamesTheSecretThatMatched) {
  const StandardWebhooks two{with_secrets({kPublicKey, kSecret})};
  EXPECT_EQ(secret_of(two.verify(request(kHmac), kNow)), 1U);
  EXPECT_EQ(secret_of(two.verify(request(kEd25519), kNow)), 0U);
}

TEST_F(StandardWebhooksTest, AcceptsWhenAnyOfSeveralSignaturesMatches) {
  EXPECT_TRUE(is_accepted(verdict(kOther + " " + kHmac)));
  EXPECT_TRUE(is_accepted(verdict(kHmac + " " + kOther)));
  EXPECT_TRUE(is_accepted(verdict(kOther + "  v9,AAAA v1 v1,AAAA v1a,AAAA " + kHmac + " ")));
}

TEST_F(StandardWebhooksTest, LetsTheVersionPickTheAlgorithm) {
  EXPECT_EQ(reason_of(verdict(kEd25519)), RejectReason::kSignatureMismatch);
  EXPECT_EQ(reason_of(by_public_key_.verify(request(kHmac), kNow)),
            RejectReason::kSignatureMismatch);
  EXPECT_EQ(reason_of(by_public_key_.verify(request("v1," + kEd25519.substr(4)), kNow)),
            RejectReason::kSignatureMalformed);
}

TEST_F(StandardWebhooksTest, RefusesAnotherBodyOrId) {
  EXPECT_EQ(reason_of(verdict(kHmac, "{}")), RejectReason::kSignatureMismatch);
  EXPECT_EQ(reason_of(by_public_key_.verify(request(kEd25519, "{}"), kNow)),
            RejectReason::kSignatureMismatch);
  auto other = request(kHmac);
  other.headers[0].value = "msg_test_2";
  EXPECT_EQ(reason_of(standard_.verify(other, kNow)), RejectReason::kSignatureMismatch);
}

TEST_F(StandardWebhooksTest, ReadsSvixHeadersInStead) {
  const auto svix = a_request(
      kBody,
      {{"svix-id", "msg_test_1"}, {"svix-timestamp", "1767225600"}, {"svix-signature", kHmac}});
  EXPECT_TRUE(is_accepted(standard_.verify(svix, kNow)));
  EXPECT_EQ(standard_.events(svix).at(0).event_id, "msg_test_1");
}

TEST_F(StandardWebhooksTest, NeverMixesHeadersOfBothKinds) {
  const auto mixed = a_request(kBody, {{"webhook-id", "msg_test_1"},
                                       {"svix-id", "msg_test_1"},
                                       {"svix-timestamp", "1767225600"},
                                       {"svix-signature", kHmac}});
  EXPECT_EQ(reason_of(standard_.verify(mixed, kNow)), RejectReason::kSignatureMissing);
}

TEST_F(StandardWebhooksTest, NeedsAllThreeHeaders) {
  for (std::size_t i = 0; i < 3; ++i) {
    auto absent = request(kHmac);
    absent.headers.erase(absent.headers.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(reason_of(standard_.verify(absent, kNow)), RejectReason::kSignatureMissing) << i;
    auto blank = request(kHmac);
    blank.headers[i].value = " ";
    EXPECT_EQ(reason_of(standard_.verify(blank, kNow)), RejectReason::kSignatureMissing) << i;
  }
}

TEST_F(StandardWebhooksTest, RefusesAHeaderGivenTwice) {
  for (std::size_t i = 0; i < 3; ++i) {
    auto doubled = request(kHmac);
    doubled.headers.push_back(doubled.headers[i]);
    EXPECT_EQ(reason_of(standard_.verify(doubled, kNow)), RejectReason::kSignatureMalformed) << i;
  }
}

TEST_F(StandardWebhooksTest, NeverFallsBackToAnotherVersion) {
  EXPECT_EQ(reason_of(verdict("v0," + kHmac.substr(3))), RejectReason::kSignatureMissing);
  EXPECT_EQ(reason_of(verdict("V1," + kHmac.substr(3))), RejectReason::kSignatureMissing);
  EXPECT_EQ(reason_of(verdict(kHmac.substr(3))), RejectReason::kSignatureMissing);
}

class StandardWebhooksBadSignatureTest : public StandardWebhooksTest,
                                         public testing::WithParamInterface<std::string> {};

TEST_P(StandardWebhooksBadSignatureTest, IsMalformed) {
  EXPECT_EQ(reason_of(verdict(GetParam())), RejectReason::kSignatureMalformed);
}

INSTANTIATE_TEST_SUITE_P(StandardWebhooks, StandardWebhooksBadSignatureTest,
                         testing::Values("v1,", "v1,AAAA", kHmac.substr(0, 46), kHmac + ",extra",
                                         kOther + "," + kHmac, "v1," + std::string(64, 'a'),
                                         kEd25519.substr(0, 52)),
                         [](const auto& row) { return "Value" + std::to_string(row.index); });

TEST_F(StandardWebhooksTest, RefusesMoreThanSixteenSignatures) {
  std::string list = kHmac;
  for (int i = 0; i < 15; ++i) list += " " + kOther;
  EXPECT_TRUE(is_accepted(verdict(list)));
  EXPECT_EQ(reason_of(verdict(list + " " + kOther)), RejectReason::kSignatureMalformed);
}

TEST_F(StandardWebhooksTest, RefusesAListOfMoreThan4096Bytes) {
  EXPECT_EQ(reason_of(verdict(kHmac + " v9," + std::string(4096, 'A'))),
            RejectReason::kSignatureMalformed);
}

TEST_F(StandardWebhooksTest, RefusesIdsThatMakeTheSignedTextAmbiguous) {
  EXPECT_TRUE(is_accepted(verdict_of(std::string(255, 'm'), "1767225600")));
  for (const std::string& id :
       {std::string{"msg.with.dots"}, std::string{"msg\x01"}, std::string{"msg\x7F"},
        std::string{"msg\xFF"}, std::string("msg\0x", 5), std::string(256, 'm')}) {
    EXPECT_EQ(reason_of(verdict_of(id, "1767225600")), RejectReason::kSignatureMalformed) << id;
  }
}

TEST_F(StandardWebhooksTest, RefusesTimesThatAreNotPlainDigitsThoughSigned) {
  for (const auto* timestamp : {"soon", "1767225600abc", "1767225600.7", "-1", "1767225600000"}) {
    EXPECT_EQ(reason_of(verdict_of("msg_1", timestamp)), RejectReason::kTimestampMalformed)
        << timestamp;
  }
}

TEST_F(StandardWebhooksTest, BoundsTheTimeOnBothSides) {
  EXPECT_TRUE(is_accepted(verdict_of("msg_1", "1767225600", kNow + seconds{300})));
  EXPECT_TRUE(is_accepted(verdict_of("msg_1", "1767225600", kNow - seconds{300})));
  EXPECT_EQ(reason_of(verdict_of("msg_1", "1767225600", kNow + seconds{301})),
            RejectReason::kTimestampTooOld);
  EXPECT_EQ(reason_of(verdict_of("msg_1", "1767225600", kNow - seconds{301})),
            RejectReason::kTimestampInFuture);
}

TEST_F(StandardWebhooksTest, BoundsTheTimeOfAPublicKeyToo) {
  EXPECT_EQ(reason_of(by_public_key_.verify(request(kEd25519), kNow + seconds{301})),
            RejectReason::kTimestampTooOld);
}

TEST_F(StandardWebhooksTest, RefusesSettingsThatCannotVerify) {
  const auto refused = [](const std::vector<std::string>& secrets) {
    return refused_secret<StandardWebhooks>(with_secrets(secrets));
  };
  EXPECT_EQ(refused({}), -1);
  EXPECT_EQ(refused({kSecret, ""}), 1);
  EXPECT_EQ(refused({"whsec_"}), 0);
  EXPECT_EQ(refused({"whpk_"}), 0);
  EXPECT_EQ(refused({"whsec_not base64"}), 0);
  EXPECT_EQ(refused({"whsec_YQ"}), 0);
  EXPECT_EQ(refused({"whpk_YWJj"}), 0);
  EXPECT_EQ(refused({"whpk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}), 0);
  auto settings = with_secrets({kSecret});
  settings.tolerance = seconds{0};
  EXPECT_EQ(refused_secret<StandardWebhooks>(settings), -1);
}

TEST_F(StandardWebhooksTest, AsksForThePublicKeyInPlaceOfThePrivateOne) {
  try {
    StandardWebhooks made{with_secrets({"whsk_" + base64_encode(std::string(64, 'k'))})};
    FAIL();
  } catch (const InvalidProviderSettings& invalid) {
    EXPECT_EQ(invalid.secret_index, 0);
    EXPECT_NE(invalid.message.find("whpk_"), std::string::npos);
  }
}

TEST_F(StandardWebhooksTest, ReadsAnEvent) {
  const auto read =
      event(R"({"type":"invoice.paid","timestamp":"2026-01-01T00:00:00Z","data":{"id":"inv_1"}})");
  EXPECT_EQ(read.event_id, "msg_test_1");
  EXPECT_EQ(read.scope, "");
  EXPECT_EQ(read.event_type, "invoice.paid");
  EXPECT_EQ(read.subject, "inv_1");
  EXPECT_EQ(read.occurred_at, kNow);
  EXPECT_EQ(read.live, std::nullopt);
  EXPECT_EQ(read.unusable, "");
}

TEST_F(StandardWebhooksTest, TakesAnyJsonForABody) {
  EXPECT_EQ(event("[1]").unusable, "");
  EXPECT_EQ(event("[1]").event_type, "");
}

TEST_F(StandardWebhooksTest, KeysABodyThatIsNotJsonByTheMessageToo) {
  const auto read = event("plain text");
  EXPECT_EQ(read.event_id, "msg_test_1");
  EXPECT_EQ(read.unusable.substr(0, 16), "body is not JSON");
  EXPECT_EQ(read.content, sha256("plain text"));
}

TEST_F(StandardWebhooksTest, TellsOtherContentUnderOneId) {
  EXPECT_EQ(event(R"({"a":1,"b":2})").content, event(R"({ "b":2, "a":1 })").content);
  EXPECT_NE(event(R"({"a":1})").signed_content, event(R"({"a":2})").signed_content);
}

TEST_F(StandardWebhooksTest, SignsWithTheIdOfTheRequest) {
  auto again = request("old");
  again.headers[1].value = "1";
  standard_.sign(again, kNow);
  EXPECT_EQ(again.headers.size(), 3U);
  EXPECT_EQ(again.header("webhook-signature"), kHmac);
  EXPECT_EQ(again.header("webhook-timestamp"), "1767225600");
}

TEST_F(StandardWebhooksTest, SignsUnderTheHeaderNamesOfTheRequest) {
  auto svix = a_request(kBody, {{"svix-id", "msg_test_1"}});
  standard_.sign(svix, kNow);
  EXPECT_EQ(svix.header("svix-signature"), kHmac);
  EXPECT_EQ(svix.header_count("webhook-id"), 0U);
}

TEST_F(StandardWebhooksTest, InventsAnIdWhereThereIsNone) {
  auto fresh = a_request(kBody);
  standard_.sign(fresh, kNow);
  EXPECT_TRUE(is_accepted(standard_.verify(fresh, kNow)));
  EXPECT_EQ(fresh.header("webhook-id")->substr(0, 4), "msg_");
}

TEST_F(StandardWebhooksTest, SignsWithTheFirstSecretThatCan) {
  const StandardWebhooks mixed{with_secrets({kPublicKey, kSecret})};
  auto fresh = request("old");
  mixed.sign(fresh, kNow);
  EXPECT_EQ(fresh.header("webhook-signature"), kHmac);
  EXPECT_THROW(by_public_key_.sign(fresh, kNow), std::logic_error);
}

TEST_F(StandardWebhooksTest, MustBeRememberedFor35Days) {
  EXPECT_EQ(standard_.redelivery_horizon(), std::chrono::days{35});
  EXPECT_EQ(standard_.success_body(), "");
}

}  // namespace
}  // namespace hookgate
