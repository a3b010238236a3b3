#include "providers/adyen.h"

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "adyen_test_support.h"
#include "provider_test_support.h"

namespace hookgate {
namespace {

class AdyenItemsTest : public testing::Test {
 protected:
  Verdict verdict(const std::vector<ItemFields>& items) const {
    return adyen_.verify(a_request(batch_json(items)), kNow);
  }
  Verdict verdict_of_body(const std::string& body) const {
    return adyen_.verify(a_request(body), kNow);
  }
  // Of an item whose signature is right for `text`.
  Verdict verdict_signed_over(const ItemFields& fields, std::string_view text) const {
    return verdict({with_signature(fields, signed_over(text))});
  }

  AdyenItems adyen_{with_secrets({kAdyenKey})};
};

// Made with Python's hmac module over PSPC1:PSPA1:TestShopECOM:order:7\x:1099:EUR:CAPTURE:true
TEST_F(AdyenItemsTest, AcceptsAKnownSignature) {
  const auto item = with_signature({}, "iTveJQjrjY4yHVz/xmtYueoKtVXutQov10N0vJ/qpRk=");
  EXPECT_EQ(secret_of(verdict({item})), 0U);
}

TEST_F(AdyenItemsTest, SignsAbsentNullAndEmptyReferencesAsNothing) {
  ItemFields item{.event_code = R"("AUTHORISATION")"};
  for (const std::string nothing : {"", "null", R"("")"}) {
    item.original_reference = nothing;
    item.merchant_reference = nothing;
    EXPECT_TRUE(
        is_accepted(verdict_signed_over(item, "PSPC1::TestShopECOM::1099:EUR:AUTHORISATION:true")))
        << nothing;
  }
}

TEST_F(AdyenItemsTest, SignsTheDecodedTextWithoutEscapingOrTrimming) {
  const ItemFields item{.merchant_reference = R"(" a\/\u00e9\\: ")"};
  EXPECT_TRUE(is_accepted(
      verdict_signed_over(item, "PSPC1:PSPA1:TestShopECOM: a/\xC3\xA9\\: :1099:EUR:CAPTURE:true")));
}

TEST_F(AdyenItemsTest, SignsTheAmountsLiteral) {
  for (const std::string value : {"0", "-5", "9223372036854775807"}) {
    EXPECT_TRUE(is_accepted(verdict_signed_over(
        {.value = value}, "PSPC1:PSPA1:TestShopECOM:order:7\\x:" + value + ":EUR:CAPTURE:true")))
        << value;
  }
}

struct Tampering {
  const char* name;
  ItemFields fields;
};

void PrintTo(const Tampering& row, std::ostream* out) {
  *out << row.name;
}

class AdyenTamperingTest : public AdyenItemsTest, public testing::WithParamInterface<Tampering> {};

TEST_P(AdyenTamperingTest, IsRefused) {
  EXPECT_EQ(reason_of(verdict_signed_over(
                GetParam().fields, "PSPC1:PSPA1:TestShopECOM:order:7\\x:1099:EUR:CAPTURE:true")),
            RejectReason::kSignatureMismatch);
}

INSTANTIATE_TEST_SUITE_P(
    Adyen, AdyenTamperingTest,
    testing::Values(Tampering{"WithThePspReference", {.psp_reference = R"("PSPC2")"}},
                    Tampering{"WithTheOriginalReference", {.original_reference = ""}},
                    Tampering{"WithTheAccount", {.account = R"("OtherECOM")"}},
                    Tampering{"WithTheReference", {.merchant_reference = R"("order:8\\x")"}},
                    Tampering{"WithTheValue", {.value = "10990"}},
                    Tampering{"WithTheCurrency", {.currency = R"("USD")"}},
                    Tampering{"WithTheEventCode", {.event_code = R"("REFUND")"}},
                    Tampering{"WithSuccess", {.success = R"("false")"}}),
    [](const auto& row) { return row.param.name; });

TEST_F(AdyenItemsTest, AcceptsChangesOutsideTheSignedFields) {
  ItemFields item{.event_date = R"("2027-01-01T00:00:00Z")", .reason = R"("changed")"};
  EXPECT_TRUE(is_accepted(
      verdict_signed_over(item, "PSPC1:PSPA1:TestShopECOM:order:7\\x:1099:EUR:CAPTURE:true")));
}

struct Malformation {
  const char* name;
  ItemFields fields;
};

void PrintTo(const Malformation& row, std::ostream* out) {
  *out << row.name;
}

class AdyenMalformedItemTest : public AdyenItemsTest,
                               public testing::WithParamInterface<Malformation> {};

// Signed as a coercing reader would read it, so that only the types can be the reason.
TEST_P(AdyenMalformedItemTest, IsUnreadable) {
  EXPECT_EQ(reason_of(verdict_signed_over(
                GetParam().fields, "PSPC1:PSPA1:TestShopECOM:order:7\\x:1099:EUR:CAPTURE:true")),
            RejectReason::kBodyUnreadable);
}

INSTANTIATE_TEST_SUITE_P(
    Adyen, AdyenMalformedItemTest,
    testing::Values(Malformation{"SuccessAsABoolean", {.success = "true"}},
                    Malformation{"SuccessAsAnotherText", {.success = R"("TRUE")"}},
                    Malformation{"SuccessMissing", {.success = ""}},
                    Malformation{"ValueAsAText", {.value = R"("1099")"}},
                    Malformation{"ValueAsAFraction", {.value = "1099.0"}},
                    Malformation{"ValueBeyond64Bits", {.value = "9223372036854775808"}},
                    Malformation{"ValueMissing", {.value = ""}},
                    Malformation{"CurrencyMissing", {.currency = ""}},
                    Malformation{"PspReferenceMissing", {.psp_reference = ""}},
                    Malformation{"PspReferenceNull", {.psp_reference = "null"}},
                    Malformation{"AccountAsANumber", {.account = "7"}},
                    Malformation{"EventCodeMissing", {.event_code = ""}},
                    Malformation{"MerchantReferenceAsANumber", {.merchant_reference = "7"}},
                    Malformation{"OriginalReferenceAsAList", {.original_reference = "[]"}}),
    [](const auto& row) { return row.param.name; });

class AdyenColonTest : public AdyenItemsTest, public testing::WithParamInterface<Malformation> {};

TEST_P(AdyenColonTest, IsRefusedThoughSigned) {
  const auto& fields = GetParam().fields;
  const auto text = [](const std::string& json) { return json.substr(1, json.size() - 2); };
  const auto signed_text = text(fields.psp_reference) + ":" + text(fields.original_reference) +
                           ":" + text(fields.account) +
                           ":order:7\\x:1099:" + text(fields.currency) + ":" +
                           text(fields.event_code) + ":true";
  const auto verdict = verdict_signed_over(fields, signed_text);
  EXPECT_EQ(reason_of(verdict), RejectReason::kBodyUnreadable);
  EXPECT_NE(detail_of(verdict).find("':'"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Adyen, AdyenColonTest,
    testing::Values(Malformation{"InThePspReference", {.psp_reference = R"("A:B")"}},
                    Malformation{"InTheOriginalReference", {.original_reference = R"("A:B")"}},
                    Malformation{"InTheAccount", {.account = R"("A:B")"}},
                    Malformation{"InTheCurrency", {.currency = R"("A:B")"}},
                    Malformation{"InTheEventCode", {.event_code = R"("A:B")"}}),
    [](const auto& row) { return row.param.name; });

TEST_F(AdyenItemsTest, TakesAColonInTheFileNameOfAReport) {
  const ItemFields report{.psp_reference = R"("report_10:30.csv")",
                          .original_reference = "",
                          .merchant_reference = "",
                          .value = "0",
                          .event_code = R"("REPORT_AVAILABLE")"};
  EXPECT_TRUE(is_accepted(
      verdict_signed_over(report, "report_10:30.csv::TestShopECOM::0:EUR:REPORT_AVAILABLE:true")));
}

TEST_F(AdyenItemsTest, RefusesANameGivenTwice) {
  const auto item = with_signature({}, "iTveJQjrjY4yHVz/xmtYueoKtVXutQov10N0vJ/qpRk=");
  const auto doubled =
      replaced(batch_json({item}), R"("success":"true")", R"("success":"false","success":"true")");
  EXPECT_EQ(reason_of(verdict_of_body(doubled)), RejectReason::kBodyUnreadable);
}

class AdyenBadBodyTest : public AdyenItemsTest, public testing::WithParamInterface<std::string> {};

TEST_P(AdyenBadBodyTest, IsUnreadable) {
  EXPECT_EQ(reason_of(verdict_of_body(GetParam())), RejectReason::kBodyUnreadable);
}

INSTANTIATE_TEST_SUITE_P(
    Adyen, AdyenBadBodyTest,
    testing::Values("", "no json", "[]", "null", "7", R"({"live":"false"})",
                    R"({"live":"false","notificationItems":[]})",
                    R"({"notificationItems":{"NotificationRequestItem":{}}})",
                    R"({"notificationItems":null})", R"({"notificationItems":[null]})",
                    R"({"notificationItems":[{}]})",
                    R"({"notificationItems":[{"NotificationRequestItem":[]}]})"),
    [](const auto& row) { return "Body" + std::to_string(row.index); });

class AdyenNoSignatureTest : public AdyenItemsTest,
                             public testing::WithParamInterface<std::string> {};

TEST_P(AdyenNoSignatureTest, IsMissing) {
  EXPECT_EQ(reason_of(verdict({ItemFields{.additional = GetParam()}})),
            RejectReason::kSignatureMissing);
}

INSTANTIATE_TEST_SUITE_P(Adyen, AdyenNoSignatureTest,
                         testing::Values("", "null", "{}", R"(["hmacSignature"])",
                                         R"({"hmacSignature":""})", R"({"hmacSignature":null})",
                                         R"({"hmacSignature":7})"),
                         [](const auto& row) { return "Data" + std::to_string(row.index); });

class AdyenBadSignatureTest : public AdyenItemsTest,
                              public testing::WithParamInterface<std::string> {};

TEST_P(AdyenBadSignatureTest, IsMalformed) {
  EXPECT_EQ(reason_of(verdict({with_signature({}, GetParam())})),
            RejectReason::kSignatureMalformed);
}

INSTANTIATE_TEST_SUITE_P(Adyen, AdyenBadSignatureTest,
                         testing::Values("iTveJQjrjY4yHVz/xmtYueoKtVXutQov10N0vJ/qpRk",
                                         "iTveJQjrjY4yHVz_xmtYueoKtVXutQov10N0vJ_qpRk=",
                                         "iTveJQjrjY4yHVz/xmtYueoKtVXutQov10N0vJ/qpRk= ", "AAAA",
                                         std::string(64, 'a')),
                         [](const auto& row) { return "Value" + std::to_string(row.index); });

TEST_F(AdyenItemsTest, RefusesABatchForOneBadItemAndNamesIt) {
  const auto good = with_signature({}, "iTveJQjrjY4yHVz/xmtYueoKtVXutQov10N0vJ/qpRk=");
  auto bad = good;
  bad.value = "1";
  EXPECT_TRUE(is_accepted(verdict({good, good})));
  const auto refused = verdict({good, bad, good});
  EXPECT_EQ(reason_of(refused), RejectReason::kSignatureMismatch);
  EXPECT_EQ(detail_of(refused).substr(0, 7), "item 1:");
}

TEST_F(AdyenItemsTest, TakesItemsOfOneBatchSignedWithDifferentKeys) {
  const AdyenItems rotating{with_secrets({kOtherAdyenKey, kAdyenKey})};
  const std::string text = "PSPC1:PSPA1:TestShopECOM:order:7\\x:1099:EUR:CAPTURE:true";
  const auto body = batch_json({with_signature({}, signed_over(text, kAdyenKey)),
                                with_signature({}, signed_over(text, kOtherAdyenKey))});
  EXPECT_EQ(secret_of(rotating.verify(a_request(body), kNow)), 1U);
}

TEST_F(AdyenItemsTest, TakesKeysOf64HexDigitsInEitherCaseOnly) {
  EXPECT_EQ(refused_secret<AdyenItems>(with_secrets({std::string(64, 'a')})), std::nullopt);
  EXPECT_EQ(refused_secret<AdyenItems>(with_secrets({})), -1);
  EXPECT_EQ(refused_secret<AdyenItems>(with_secrets({kAdyenKey, ""})), 1);
  EXPECT_EQ(refused_secret<AdyenItems>(with_secrets({std::string(63, 'a')})), 0);
  EXPECT_EQ(refused_secret<AdyenItems>(with_secrets({std::string(62, 'a')})), 0);
  EXPECT_EQ(refused_secret<AdyenItems>(with_secrets({std::string(64, 'g')})), 0);
  EXPECT_EQ(refused_secret<AdyenItems>(with_secrets({kAdyenKey + " "})), 0);
  EXPECT_EQ(refused_secret<AdyenItems>(with_secrets({"not hex at all"})), 0);
}

TEST_F(AdyenItemsTest, SignsEveryItemInTheBody) {
  auto request = a_request(batch_json({{}, {.value = "5", .additional = ""}}));
  const auto before = adyen_.events(request);
  adyen_.sign(request, kNow);
  EXPECT_TRUE(is_accepted(adyen_.verify(request, kNow)));
  EXPECT_NE(request.body.find("iTveJQjrjY4yHVz/xmtYueoKtVXutQov10N0vJ/qpRk="), std::string::npos);
  EXPECT_NE(request.body.find("012345"), std::string::npos);
  EXPECT_EQ(adyen_.events(request).at(0).content, before.at(0).content);
}

TEST_F(AdyenItemsTest, LeavesABodyItCannotReadUnsigned) {
  auto request = a_request("no json");
  adyen_.sign(request, kNow);
  EXPECT_EQ(request.body, "no json");
}

TEST_F(AdyenItemsTest, AnswersWhatAdyenWantsAndRemembers40Days) {
  EXPECT_EQ(adyen_.success_body(), "[accepted]");
  EXPECT_EQ(adyen_.redelivery_horizon(), std::chrono::days{40});
}

class AdyenHeaderTest : public testing::Test {
 protected:
  Verdict verdict(const std::string& signature, const std::string& body) const {
    return adyen_.verify(a_request(body, {{"hmacsignature", signature}}), kNow);
  }

  AdyenHeader adyen_{with_secrets({kAdyenKey})};
  std::string body_ = R"({"type":"recurring.token.created","eventId":"E1"})";
  std::string signature_ = "OppDPkNzeen9hJdStvuzlqf526jLUtyGbs4nkFSdWBQ=";  // Python's hmac
};

TEST_F(AdyenHeaderTest, AcceptsAKnownSignature) {
  EXPECT_EQ(secret_of(verdict(signature_, body_)), 0U);
}

TEST_F(AdyenHeaderTest, NamesTheKeyThatMatched) {
  const AdyenHeader rotating{with_secrets({kOtherAdyenKey, kAdyenKey})};
  const auto request = a_request(body_, {{"HmacSignature", signature_}});
  EXPECT_EQ(secret_of(rotating.verify(request, kNow)), 1U);
}

TEST_F(AdyenHeaderTest, RefusesAnotherBody) {
  EXPECT_EQ(reason_of(verdict(signature_, body_ + "\n")), RejectReason::kSignatureMismatch);
}

TEST_F(AdyenHeaderTest, FindsNoSignatureWithoutTheHeader) {
  EXPECT_EQ(reason_of(adyen_.verify(a_request(body_), kNow)), RejectReason::kSignatureMissing);
  EXPECT_EQ(reason_of(verdict("", body_)), RejectReason::kSignatureMissing);
}

TEST_F(AdyenHeaderTest, RefusesAnythingButStrictBase64) {
  EXPECT_EQ(reason_of(verdict(signature_.substr(0, 43), body_)), RejectReason::kSignatureMalformed);
  EXPECT_EQ(reason_of(verdict(std::string(64, 'a'), body_)), RejectReason::kSignatureMalformed);
}

TEST_F(AdyenHeaderTest, RefusesSeveralHeaderLines) {
  const auto request =
      a_request(body_, {{"HmacSignature", signature_}, {"HmacSignature", signature_}});
  EXPECT_EQ(reason_of(adyen_.verify(request, kNow)), RejectReason::kSignatureMalformed);
}

TEST_F(AdyenHeaderTest, RefusesAnEmptyBodyThoughSigned) {
  EXPECT_EQ(reason_of(verdict(signed_over(""), "")), RejectReason::kBodyUnreadable);
}

TEST_F(AdyenHeaderTest, DoesNotTakeASignatureInsideTheBodyForOne) {
  const auto item = with_signature({}, "iTveJQjrjY4yHVz/xmtYueoKtVXutQov10N0vJ/qpRk=");
  EXPECT_EQ(reason_of(adyen_.verify(a_request(batch_json({item})), kNow)),
            RejectReason::kSignatureMissing);
}

TEST_F(AdyenHeaderTest, SignsInTheHeader) {
  auto request = a_request(body_, {{"hmacSIGNATURE", "old"}});
  adyen_.sign(request, kNow);
  EXPECT_EQ(request.header_count("HmacSignature"), 1U);
  EXPECT_EQ(request.header("HmacSignature"), signature_);
}

TEST(AdyenSchemeTest, IsItemOrHeader) {
  auto settings = with_secrets({kAdyenKey});
  EXPECT_NE(dynamic_cast<AdyenItems*>(make_adyen(settings).get()), nullptr);
  settings.scheme = "header";
  EXPECT_NE(dynamic_cast<AdyenHeader*>(make_adyen(settings).get()), nullptr);
  settings.scheme = "both";
  EXPECT_THROW(make_adyen(settings), InvalidProviderSettings);
}

}  // namespace
}  // namespace hookgate
