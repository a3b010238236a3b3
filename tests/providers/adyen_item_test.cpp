#include "providers/adyen_item.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adyen_test_support.h"
#include "provider_test_support.h"
#include "providers/adyen.h"

namespace hookgate {
namespace {

class AdyenItemTest : public testing::Test {
 protected:
  NewEvent event(const ItemFields& fields, const std::string& live = "\"false\"") const {
    const auto events = adyen_.events(a_request(batch_json({fields}, live)));
    EXPECT_EQ(events.size(), 1U);
    return events.at(0);
  }
  std::string id(const ItemFields& fields) const { return event(fields).event_id; }

  AdyenItems adyen_{with_secrets({kAdyenKey})};
};

TEST_F(AdyenItemTest, ReadsAnItem) {
  const auto read = event({});
  EXPECT_EQ(read.scope, "TestShopECOM");
  EXPECT_EQ(read.account, "TestShopECOM");
  EXPECT_EQ(read.event_id, "test:CAPTURE:true:PSPC1");
  EXPECT_EQ(read.event_type, "CAPTURE");
  EXPECT_EQ(read.subject, "PSPA1");
  EXPECT_EQ(read.occurred_at, kNow);
  EXPECT_EQ(read.live, false);
  EXPECT_EQ(read.item, 0);
  EXPECT_EQ(read.unusable, "");
}

TEST_F(AdyenItemTest, TakesThePspReferenceAsSubjectOfAPaymentItself) {
  EXPECT_EQ(event({.original_reference = ""}).subject, "PSPC1");
  EXPECT_EQ(event({.original_reference = R"("")"}).subject, "PSPC1");
}

TEST_F(AdyenItemTest, TellsLiveFromTest) {
  EXPECT_EQ(event({}, "\"true\"").live, true);
  EXPECT_EQ(event({}, "\"true\"").event_id, "live:CAPTURE:true:PSPC1");
  EXPECT_EQ(event({}, "null").live, std::nullopt);
  EXPECT_EQ(event({}, "null").event_id, "unknown:CAPTURE:true:PSPC1");
}

TEST_F(AdyenItemTest, GivesEveryItemOfABatchItsPosition) {
  const auto events = adyen_.events(a_request(batch_json({{}, {.psp_reference = R"("PSPC2")"}})));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].event_id, "test:CAPTURE:true:PSPC2");
  EXPECT_EQ(events[1].item, 1);
}

TEST_F(AdyenItemTest, KeepsOneIdWhenUnsignedDetailsChange) {
  const ItemFields later{
      .original_reference = "", .event_date = R"("2026-01-02T00:00:00Z")", .reason = R"("other")"};
  EXPECT_EQ(id(later), id({}));
}

TEST_F(AdyenItemTest, GivesAnotherResultAnotherId) {
  EXPECT_NE(id({.success = R"("false")"}), id({}));
}

TEST_F(AdyenItemTest, AddsTheInstantWhereOneReferenceSeesACodeTwice) {
  for (const std::string code : {"ISSUER_COMMENTS", "INFORMATION_SUPPLIED", "CAPTURE_FAILED"}) {
    EXPECT_EQ(id({.event_code = "\"" + code + "\""}), "test:" + code + ":true:PSPC1:1767225600");
  }
}

TEST_F(AdyenItemTest, KnowsARecaptureByItsReason) {
  for (const std::string reason :
       {"Transaction Recaptured", "transaction auto-recaptured", " TRANSACTION RECAPTURED\\t"}) {
    EXPECT_EQ(id({.reason = "\"" + reason + "\""}), "test:CAPTURE:true:PSPC1:1767225600") << reason;
  }
}

TEST_F(AdyenItemTest, TakesOnlyAGoodCaptureForARecapture) {
  const std::string reason = R"("Transaction Recaptured")";
  EXPECT_EQ(id({.success = R"("false")", .reason = reason}), "test:CAPTURE:false:PSPC1");
  EXPECT_EQ(id({.event_code = R"("REFUND")", .reason = reason}), "test:REFUND:true:PSPC1");
  EXPECT_EQ(id({.reason = R"("Transaction Recaptured again")"}), "test:CAPTURE:true:PSPC1");
}

TEST_F(AdyenItemTest, ComparesDatesAsInstants) {
  const std::string code = R"("CAPTURE_FAILED")";
  EXPECT_EQ(id({.event_code = code, .event_date = R"("2026-01-01T00:00:00Z")"}),
            id({.event_code = code, .event_date = R"("2026-01-01T02:12:00+02:12")"}));
  EXPECT_NE(id({.event_code = code, .event_date = R"("2026-01-01T00:00:01Z")"}),
            id({.event_code = code, .event_date = R"("2026-01-01T00:00:00Z")"}));
}

TEST_F(AdyenItemTest, KeepsADateThatIsNoneInTheId) {
  const std::string code = R"("CAPTURE_FAILED")";
  EXPECT_EQ(id({.event_code = code, .event_date = R"("soon")"}),
            "test:CAPTURE_FAILED:true:PSPC1:soon");
  EXPECT_EQ(id({.event_code = code, .event_date = ""}).substr(0, 7), "sha256:");
  EXPECT_EQ(event({.event_date = R"("soon")"}).occurred_at, std::nullopt);
}

TEST_F(AdyenItemTest, HashesTheIdOfAReportWithItsReason) {
  const std::string code = R"("REPORT_AVAILABLE")";
  const auto one = id({.event_code = code, .reason = R"("https://a.test/1")"});
  EXPECT_EQ(one.substr(0, 7), "sha256:");
  EXPECT_NE(one, id({.event_code = code, .reason = R"("https://a.test/2")"}));
}

TEST_F(AdyenItemTest, HashesAnIdWhoseBoundariesCouldShift) {
  EXPECT_EQ(id({.psp_reference = R"("a b")"}).substr(0, 7), "sha256:");
  EXPECT_EQ(id({.psp_reference = R"("")"}).substr(0, 7), "sha256:");
  EXPECT_EQ(id({.psp_reference = "\"" + std::string(300, 'x') + "\""}).size(), 71U);
}

TEST_F(AdyenItemTest, LetsNoBoundaryShiftInsideAHashedId) {
  EXPECT_NE(id({.psp_reference = R"("trueX Y")", .event_code = R"("C")"}),
            id({.psp_reference = R"("X Y")", .event_code = R"("Ctrue")"}));
}

TEST_F(AdyenItemTest, LetsNoBoundaryShiftInsideTheSignedContent) {
  EXPECT_NE(event({.psp_reference = R"("AB")", .original_reference = R"("C")"}).signed_content,
            event({.psp_reference = R"("A")", .original_reference = R"("BC")"}).signed_content);
}

TEST_F(AdyenItemTest, TellsAccountsApartThatLookAlikeOnceCleaned) {
  const auto one = event({.account = R"("a\u0000")"});
  const auto other = event({.account = R"("a\ufffd")"});
  EXPECT_EQ(one.scope, other.scope);
  EXPECT_NE(one.event_id, other.event_id);
}

TEST_F(AdyenItemTest, SeesUnsignedChangesInTheContentOnly) {
  const auto first = event({});
  const auto revised = event({.reason = R"("changed")"});
  EXPECT_NE(first.content, revised.content);
  EXPECT_EQ(first.signed_content, revised.signed_content);
}

TEST_F(AdyenItemTest, SeesChangesInAdditionalDataButNotInTheSignature) {
  const auto first = event({.additional = R"({"a":"1","hmacSignature":"x"})"});
  EXPECT_EQ(first.content, event({.additional = R"({"hmacSignature":"y","a":"1"})"}).content);
  EXPECT_NE(first.content, event({.additional = R"({"a":"2","hmacSignature":"x"})"}).content);
}

TEST_F(AdyenItemTest, SeesASignedChangeInTheSignedContent) {
  EXPECT_NE(event({}).signed_content, event({.value = "1100"}).signed_content);
  EXPECT_NE(event({}).signed_content, event({.original_reference = ""}).signed_content);
}

}  // namespace
}  // namespace hookgate
