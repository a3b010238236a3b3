#include "providers/adyen_platform.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adyen_test_support.h"
#include "provider_test_support.h"
#include "providers/adyen.h"

namespace hookgate {
namespace {

class AdyenPlatformTest : public testing::Test {
 protected:
  NewEvent event(const std::string& body) const {
    const auto events = adyen_.events(a_request(body));
    EXPECT_EQ(events.size(), 1U);
    return events.at(0);
  }

  AdyenHeader adyen_{with_secrets({kAdyenKey})};
};

TEST_F(AdyenPlatformTest, ReadsATokenEventByItsOwnId) {
  const auto read =
      event(R"({"createdAt":"2026-01-01T01:00:00+01:00","environment":"test","eventId":"E1",)"
            R"("type":"recurring.token.created","data":{"merchantAccount":"TestShopECOM"}})");
  EXPECT_EQ(read.event_id, "E1");
  EXPECT_EQ(read.event_type, "recurring.token.created");
  EXPECT_EQ(read.account, "TestShopECOM");
  EXPECT_EQ(read.scope, "TestShopECOM");
  EXPECT_EQ(read.live, false);
  EXPECT_EQ(read.occurred_at, kNow);
}

constexpr const char* kHolder =
    R"({"type":"balancePlatform.accountHolder.updated","environment":"live",)"
    R"("timestamp":"2026-01-01T00:00:00Z",)"
    R"("data":{"balancePlatform":"TestPlatform","accountHolder":{"id":"AH1","status":"active"}}})";

TEST_F(AdyenPlatformTest, KeysAnEventWithoutIdByTypeObjectAndTime) {
  const auto read = event(kHolder);
  EXPECT_EQ(read.event_id.substr(0, 7), "sha256:");
  EXPECT_EQ(read.subject, "AH1");
  EXPECT_EQ(read.live, true);
  EXPECT_EQ(read.event_id, event(replaced(kHolder, "active", "closed")).event_id);
  EXPECT_EQ(read.event_id, event(replaced(kHolder, "00:00:00Z", "01:00:00+01:00")).event_id);
  EXPECT_NE(read.event_id, event(replaced(kHolder, "00:00:00Z", "00:00:01Z")).event_id);
  EXPECT_NE(read.event_id, event(replaced(kHolder, "AH1", "AH2")).event_id);
  EXPECT_NE(read.event_id, event(replaced(kHolder, "updated", "created")).event_id);
}

TEST_F(AdyenPlatformTest, KeysTransfersByTheirSequenceNumber) {
  const std::string body = R"({"type":"balancePlatform.transfer.updated",)"
                           R"("data":{"id":"T1","sequenceNumber":3,"status":"a"}})";
  EXPECT_EQ(event(body).event_id, event(replaced(body, "\"a\"", "\"b\"")).event_id);
  EXPECT_NE(event(body).event_id, event(replaced(body, "3", "4")).event_id);
}

TEST_F(AdyenPlatformTest, KeysUpdatesWithoutTimeOrNumberByTheirContent) {
  const std::string body = R"({"type":"paymentMethod.updated","data":{"id":"PM1","status":"a"}})";
  EXPECT_NE(event(body).event_id, event(replaced(body, "\"a\"", "\"b\"")).event_id);
  EXPECT_EQ(event(body).event_id, event(replaced(body, ",", " , ")).event_id);
}

TEST_F(AdyenPlatformTest, SeesAnyOtherContent) {
  EXPECT_NE(event(kHolder).signed_content,
            event(replaced(kHolder, "active", "closed")).signed_content);
}

TEST_F(AdyenPlatformTest, ReadsAPaymentsBatchLikeTheItemScheme) {
  const AdyenItems items{with_secrets({kAdyenKey})};
  const auto body = batch_json({{}, {.psp_reference = R"("PSPC2")"}});
  const auto events = adyen_.events(a_request(body));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].event_id, items.events(a_request(body)).at(1).event_id);
  EXPECT_EQ(events[1].item, 1);
}

class AdyenPlatformUnusableTest : public AdyenPlatformTest,
                                  public testing::WithParamInterface<std::string> {};

TEST_P(AdyenPlatformUnusableTest, IsOneEventKeyedByItsBytes) {
  const auto read = event(GetParam());
  EXPECT_NE(read.unusable, "");
  EXPECT_EQ(read.event_id, "sha256:" + hex_encode(bytes_of(sha256(GetParam()))));
}

INSTANTIATE_TEST_SUITE_P(Adyen, AdyenPlatformUnusableTest,
                         testing::Values("no json", "[]", "7", R"({"notificationItems":[]})",
                                         R"({"notificationItems":[{}]})"),
                         [](const auto& row) { return "Body" + std::to_string(row.index); });

}  // namespace
}  // namespace hookgate
