#include <gtest/gtest.h>

#include "history_support.h"

namespace hookgate {
namespace {

Event event_of(std::string body, std::vector<EventVersion> versions) {
  Event event;
  event.event_id = "evt_1";
  event.event_type = "some.type";
  event.body = std::move(body);
  event.versions = std::move(versions);
  return event;
}
EventVersion conflict(std::string body) {
  return {EventVersion::Kind::kConflict, std::move(body), 0};
}
EventVersion revision(std::string body) {
  return {EventVersion::Kind::kRevision, std::move(body), 0};
}
std::string end_after(const std::string& provider, const std::vector<Event>& events) {
  LedgerInMemory ledger{provider, {}};
  for (const auto& event : events) ledger.take(event);
  return summary(ledger.payments());
}
std::string paid(long long amount) {
  return intent("succeeded", amount, 0, number("amount_received", amount));
}
std::string authorized(long long amount, const std::string& more = "") {
  return adyen("AUTHORISATION", true, "P", "", amount, 1, more);
}

TEST(VersionsTest, OfTwoStripeBodiesTheFirstCountsAndIsFlagged) {
  EXPECT_EQ(end_after("stripe", {event_of(paid(500), {conflict(paid(9900))})}),
            "pi_x captured 500/500/0/0 needs_review");
}

TEST(VersionsTest, AContradictionDoesNotDecideAboutAReleasedRest) {
  // All versions are old, so that the rest counts as refunded; the flag says nothing of versions.
  const auto told = intent("succeeded", 1000, 60, number("amount_received", 700));
  EXPECT_EQ(end_after("stripe", {event_of(told, {conflict(paid(9900))}),
                                 event_of(charge("refunded", 1000, 700, 300, 9000), {})}),
            "pi_x partially_captured 1000/700/0/0 needs_review");
}

TEST(VersionsTest, OfTwoAdyenAmountsNeitherCountsWhicheverCameFirst) {
  for (const auto& [first, second] : {std::pair{500, 700}, std::pair{700, 500}}) {
    EXPECT_EQ(end_after("adyen", {event_of(authorized(first), {conflict(authorized(second))})}),
              "P authorized ?/0/0/0 needs_review");
  }
}

TEST(VersionsTest, AnAdyenConflictThatCannotBeReadIsFlagged) {
  EXPECT_EQ(end_after("adyen", {event_of(authorized(500), {conflict(authorized(-1))})}),
            "P authorized 500/0/0/0 needs_review");
}

TEST(VersionsTest, AConflictThatOnlyTheOtherBodyCanPlaceIsFlagged) {
  const auto unnamed = adyen("CHARGEBACK_REVERSED", true, "D", "", 500, 9);
  const auto named = adyen("CHARGEBACK_REVERSED", true, "D", "P", 500, 9);
  const auto end = "P authorized 500/0/0/0 needs_review";
  EXPECT_EQ(
      end_after("adyen", {event_of(authorized(500), {}), event_of(unnamed, {conflict(named)})}),
      end);
  EXPECT_EQ(
      end_after("adyen", {event_of(named, {conflict(unnamed)}), event_of(authorized(500), {})}),
      end);
}

TEST(VersionsTest, NewerDetailsCountWithoutAFlag) {
  const auto details = [](const std::string& status, int day) {
    return adyen("CHARGEBACK", true, "D", "P", 500, day, status_detail(status));
  };
  EXPECT_EQ(end_after("adyen", {event_of(authorized(500), {}),
                                event_of(details("Pending", 3), {revision(details("Lost", 5))})}),
            "P charged_back 500/0/0/500 over_returned");
}

}  // namespace
}  // namespace hookgate
