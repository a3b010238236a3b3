// The committed fixtures: each can be read, is signed as it says, and is described.

#include <map>
#include <set>

#include "cli/fixture_file.h"
#include "cli_test_support.h"
#include "domain/json.h"

namespace hookgate {
namespace {

const std::filesystem::path kFolder = std::filesystem::path{HOOKGATE_SOURCE_DIR} / "fixtures";

struct Fixture {
  std::filesystem::path file;  // below the folder: "stripe/charge.succeeded.http"
  std::string provider;
  InboundRequest request;
};

class FixturesTest : public ::testing::Test {
 protected:
  static std::vector<Fixture> all() {
    std::vector<Fixture> fixtures;
    for (const auto& file : find_fixtures({kFolder})) {
      const auto relative = std::filesystem::relative(file, kFolder);
      fixtures.push_back({relative, relative.begin()->string(), read_fixture(file)});
    }
    return fixtures;
  }

  const Provider& provider(const std::string& name) const { return *providers_.at(name); }

  std::vector<NewEvent> events(const std::string& file) const {
    const auto relative = std::filesystem::path{file};
    return provider(relative.begin()->string()).events(read_fixture(kFolder / relative));
  }
  NewEvent event(const std::string& file) const { return events(file).front(); }

 private:
  static std::map<std::string, std::unique_ptr<Provider>> make_providers() {
    std::map<std::string, std::unique_ptr<Provider>> made;
    made["stripe"] = provider_with("stripe", kStripeSecret);
    made["adyen"] = provider_with("adyen", kAdyenKey);
    made["standard-webhooks"] = provider_with("standard-webhooks", kStandardSecret);
    return made;
  }
  const std::map<std::string, std::unique_ptr<Provider>> providers_ = make_providers();
};

// The time a fixture was signed at; any will do where none is signed.
SystemTime signed_at(const InboundRequest& request) {
  if (const auto stripe = request.header("Stripe-Signature")) {
    return parse_unix_seconds(stripe->substr(2, stripe->find(',') - 2)).value();
  }
  if (const auto standard = request.header("webhook-timestamp")) {
    return parse_unix_seconds(*standard).value();
  }
  return kNow;
}

TEST_F(FixturesTest, AreEnoughOfEachProvider) {
  std::map<std::string, int> counts;
  for (const auto& fixture : all()) ++counts[fixture.provider];
  EXPECT_GE(counts["stripe"], 18);
  EXPECT_GE(counts["adyen"], 16);
  EXPECT_GE(counts["standard-webhooks"], 3);
}

TEST_F(FixturesTest, HoldTheirSignaturesAtTheirOwnTime) {
  for (const auto& fixture : all()) {
    const auto verdict =
        provider(fixture.provider).verify(fixture.request, signed_at(fixture.request));
    EXPECT_TRUE(std::holds_alternative<Verified>(verdict)) << fixture.file;
  }
}

TEST_F(FixturesTest, AreRefusedWithAFlippedByte) {
  for (auto& fixture : all()) {
    const auto digit = fixture.request.body.find("\"value\":");  // signed for Adyen too
    auto& byte = fixture.request.body[digit == std::string::npos ? 5 : digit + 8];
    byte = byte == '9' ? '8' : '9';
    const auto verdict =
        provider(fixture.provider).verify(fixture.request, signed_at(fixture.request));
    EXPECT_TRUE(std::holds_alternative<Rejected>(verdict)) << fixture.file;
  }
}

TEST_F(FixturesTest, AreNamedAfterTheirEventType) {
  for (const auto& fixture : all()) {
    const auto type = provider(fixture.provider).events(fixture.request).front().event_type;
    EXPECT_TRUE(fixture.file.filename().string().starts_with(type + ".")) << fixture.file;
  }
}

TEST_F(FixturesTest, AreUsable) {
  for (const auto& fixture : all()) {
    for (const auto& event : provider(fixture.provider).events(fixture.request)) {
      EXPECT_EQ(event.unusable, "") << fixture.file;
      EXPECT_NE(event.live, true) << fixture.file;
    }
  }
}

TEST_F(FixturesTest, AreSentToTheSourcesOfTheDevConfiguration) {
  const std::map<std::string, std::string> targets{{"stripe", "/webhooks/stripe"},
                                                   {"adyen", "/webhooks/adyen"},
                                                   {"standard-webhooks", "/webhooks/standard"}};
  for (const auto& fixture : all()) {
    EXPECT_EQ(fixture.request.target, targets.at(fixture.provider)) << fixture.file;
  }
}

TEST_F(FixturesTest, AreKeptByteForByteWhenWrittenAgain) {
  for (const auto& fixture : all()) {
    const auto again = parse_fixture(format_fixture(fixture.request), fixture.file.string());
    EXPECT_EQ(again.body, fixture.request.body) << fixture.file;
  }
}

TEST_F(FixturesTest, ShareAnIdOnlyWhereTheirNamesSaySo) {
  std::map<std::tuple<std::string, std::string, std::string>, std::filesystem::path> seen;
  for (const auto& fixture : all()) {
    for (const auto& event : provider(fixture.provider).events(fixture.request)) {
      const auto [first, is_new] =
          seen.emplace(std::tuple{fixture.provider, event.scope, event.event_id}, fixture.file);
      const auto name = fixture.file.string();
      EXPECT_TRUE(is_new || name.find("redelivery") != std::string::npos ||
                  name.find("conflict") != std::string::npos)
          << fixture.file << " and " << first->second;
    }
  }
}

TEST_F(FixturesTest, ShowARedeliveryThatDiffersInPendingWebhooksOnly) {
  const auto first = event("stripe/payment_intent.succeeded.http");
  const auto again = event("stripe/payment_intent.succeeded.redelivery.http");
  EXPECT_EQ(again.event_id, first.event_id);
  EXPECT_EQ(again.content, first.content);
  EXPECT_NE(read_fixture(kFolder / "stripe/payment_intent.succeeded.http").body,
            read_fixture(kFolder / "stripe/payment_intent.succeeded.redelivery.http").body);
}

TEST_F(FixturesTest, ShowAnAdyenRedeliveryWithNewerUnsignedDetails) {
  const auto first = event("adyen/AUTHORISATION.http");
  const auto again = event("adyen/AUTHORISATION.redelivery.http");
  EXPECT_EQ(again.event_id, first.event_id);
  EXPECT_EQ(again.signed_content, first.signed_content);
  EXPECT_NE(again.content, first.content);
}

TEST_F(FixturesTest, ShowASplitPair) {
  const auto first = event("stripe/charge.succeeded.http");
  const auto second = event("stripe/charge.succeeded.split-pair.http");
  EXPECT_NE(second.event_id, first.event_id);
  EXPECT_EQ(second.subject, first.subject);
}

TEST_F(FixturesTest, ShowAConflict) {
  const auto a = event("stripe/payment_intent.succeeded.conflict-a.http");
  const auto b = event("stripe/payment_intent.succeeded.conflict-b.http");
  EXPECT_EQ(b.event_id, a.event_id);
  EXPECT_NE(b.signed_content, a.signed_content);
}

TEST_F(FixturesTest, ShowABatchOfThree) {
  EXPECT_EQ(events("adyen/AUTHORISATION.batch-of-three.http").size(), 3U);
}

TEST_F(FixturesTest, ShowARecaptureThatIsAnotherEvent) {
  const auto capture = event("adyen/CAPTURE.failed-later.http");
  const auto recapture = event("adyen/CAPTURE.recaptured.http");
  EXPECT_NE(recapture.event_id, capture.event_id);
  EXPECT_EQ(recapture.subject, capture.subject);
}

TEST_F(FixturesTest, AreAllDescribedInTheReadme) {
  std::ifstream in{kFolder / "README.md"};
  const std::string readme{std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
  for (const auto& fixture : all()) {
    EXPECT_NE(readme.find("`" + fixture.file.string() + "`"), std::string::npos) << fixture.file;
  }
}

TEST_F(FixturesTest, AreAllThereThatTheReadmeDescribes) {
  std::ifstream in{kFolder / "README.md"};
  const std::string readme{std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
  int described = 0;
  for (auto start = readme.find('`'); start != std::string::npos; start = readme.find('`', start)) {
    const auto end = readme.find('`', start + 1);
    ASSERT_NE(end, std::string::npos);
    const auto name = readme.substr(start + 1, end - start - 1);
    start = end + 1;
    if (name.find('/') == std::string::npos || !name.ends_with(".http") ||
        name.find('<') != std::string::npos) {
      continue;
    }
    ++described;
    EXPECT_TRUE(std::filesystem::exists(kFolder / name)) << name;
  }
  EXPECT_GE(described, 37);
}

}  // namespace
}  // namespace hookgate
