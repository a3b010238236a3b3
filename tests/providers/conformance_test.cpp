#include <algorithm>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "crypto/encoding.h"
#include "provider_test_support.h"
#include "providers/registry.h"

// What every registered provider must do, whatever its scheme. A new one adds a Sender here.

namespace hookgate {
namespace {

struct Sender {
  std::string label;
  std::string provider;
  ProviderSettings settings;
  std::string body;                  // one event
  std::vector<std::string> headers;  // that it cannot do without
  bool has_time = true;              // the signature says when it was made
  bool signs_raw_body = true;        // every byte of it
  std::string signed_text;           // somewhere in the body and signed
};

void PrintTo(const Sender& sender, std::ostream* out) {
  *out << sender.label;
}

const std::string kAdyenKey(64, 'B');

constexpr const char* kAdyenBatch =
    R"({"live":"false","notificationItems":[{"NotificationRequestItem":{)"
    R"("amount":{"currency":"EUR","value":1099},"eventCode":"AUTHORISATION",)"
    R"("eventDate":"2026-01-01T01:00:00+01:00","merchantAccountCode":"TestShopECOM",)"
    R"("merchantReference":"order-1001","pspReference":"TEST1","success":"true"}}]})";

ProviderSettings header_scheme() {
  auto settings = with_secrets({kAdyenKey});
  settings.scheme = "header";
  return settings;
}

std::vector<Sender> senders() {
  return {
      {.label = "Stripe",
       .provider = "stripe",
       .settings = with_secrets({"whsec_invented_for_tests_only"}),
       .body = R"({"id":"evt_test_1","object":"event","type":"invoice.paid"})",
       .headers = {"Stripe-Signature"},
       .signed_text = "invoice.paid"},
      {.label = "AdyenItems",
       .provider = "adyen",
       .settings = with_secrets({kAdyenKey}),
       .body = kAdyenBatch,
       .headers = {},
       .has_time = false,
       .signs_raw_body = false,
       .signed_text = "order-1001"},
      {.label = "AdyenHeader",
       .provider = "adyen",
       .settings = header_scheme(),
       .body = R"({"type":"recurring.token.created","eventId":"TEST1"})",
       .headers = {"HmacSignature"},
       .has_time = false,
       .signed_text = "created"},
      {.label = "StandardWebhooks",
       .provider = "standard-webhooks",
       .settings = with_secrets({"whsec_" + base64_encode("invented-for-tests-only-0001")}),
       .body = R"({"type":"invoice.paid"})",
       .headers = {"webhook-id", "webhook-timestamp", "webhook-signature"},
       .signed_text = "invoice.paid"},
  };
}

class ConformanceTest : public testing::TestWithParam<Sender> {
 protected:
  InboundRequest a_signed_request() const {
    auto request = a_request(GetParam().body, {{"Content-Type", "application/json"}});
    provider_->sign(request, kNow);
    return request;
  }

  std::chrono::seconds tolerance() const { return GetParam().settings.tolerance; }

  std::unique_ptr<Provider> provider_ = make_provider(GetParam().provider, GetParam().settings);
};

class RawBodyConformanceTest : public ConformanceTest {};
class TimedConformanceTest : public ConformanceTest {};

std::vector<Sender> senders_with(bool Sender::*trait) {
  auto all = senders();
  std::erase_if(all, [&](const Sender& sender) { return !(sender.*trait); });
  return all;
}

constexpr auto kLabel = [](const auto& row) { return row.param.label; };
INSTANTIATE_TEST_SUITE_P(Provider, ConformanceTest, testing::ValuesIn(senders()), kLabel);
INSTANTIATE_TEST_SUITE_P(Provider, RawBodyConformanceTest,
                         testing::ValuesIn(senders_with(&Sender::signs_raw_body)), kLabel);
INSTANTIATE_TEST_SUITE_P(Provider, TimedConformanceTest,
                         testing::ValuesIn(senders_with(&Sender::has_time)), kLabel);

TEST_P(ConformanceTest, AcceptsWhatItSigned) {
  EXPECT_EQ(secret_of(provider_->verify(a_signed_request(), kNow)), 0U);
}

TEST_P(ConformanceTest, IsKnownByItsConfiguredName) {
  EXPECT_EQ(provider_->name(), GetParam().provider);
}

TEST_P(ConformanceTest, RefusesAChangeOfWhatIsSigned) {
  auto request = a_signed_request();
  const auto at = request.body.find(GetParam().signed_text);
  ASSERT_NE(at, std::string::npos);
  request.body[at] ^= 1;
  EXPECT_EQ(reason_of(provider_->verify(request, kNow)), RejectReason::kSignatureMismatch);
}

TEST_P(RawBodyConformanceTest, RefusesEveryFlippedByte) {
  const auto request = a_signed_request();
  for (std::size_t i = 0; i < request.body.size(); ++i) {
    auto changed = request;
    changed.body[i] ^= 1;
    EXPECT_FALSE(is_accepted(provider_->verify(changed, kNow))) << i;
  }
}

TEST_P(RawBodyConformanceTest, RefusesABodyThatWasCutOrMadeLonger) {
  auto longer = a_signed_request();
  longer.body += '\n';
  EXPECT_FALSE(is_accepted(provider_->verify(longer, kNow)));
  auto shorter = a_signed_request();
  shorter.body.pop_back();
  EXPECT_FALSE(is_accepted(provider_->verify(shorter, kNow)));
}

TEST_P(ConformanceTest, RefusesARequestThatWasNeverSigned) {
  EXPECT_EQ(reason_of(provider_->verify(a_request(GetParam().body), kNow)),
            RejectReason::kSignatureMissing);
}

TEST_P(ConformanceTest, MissesEachHeaderItNeeds) {
  for (const auto& name : GetParam().headers) {
    auto request = a_signed_request();
    ASSERT_EQ(
        std::erase_if(request.headers, [&](const Header& header) { return header.name == name; }),
        1U);
    EXPECT_EQ(reason_of(provider_->verify(request, kNow)), RejectReason::kSignatureMissing) << name;
  }
}

TEST_P(ConformanceTest, RefusesAnotherSecretsSignature) {
  auto settings = GetParam().settings;
  const auto text = settings.secrets.front().reveal();
  settings.secrets = {Secret{text.substr(0, text.size() - 8) + "AAAAAAAA"}};
  const auto other = make_provider(GetParam().provider, settings);
  EXPECT_EQ(reason_of(other->verify(a_signed_request(), kNow)), RejectReason::kSignatureMismatch);
}

TEST_P(ConformanceTest, AcceptsTheOldSecretWhileANewOneRollsIn) {
  auto settings = GetParam().settings;
  const auto text = settings.secrets.front().reveal();
  settings.secrets.insert(settings.secrets.begin(),
                          Secret{text.substr(0, text.size() - 8) + "AAAAAAAA"});
  const auto rotating = make_provider(GetParam().provider, settings);
  EXPECT_EQ(secret_of(rotating->verify(a_signed_request(), kNow)), 1U);
}

TEST_P(TimedConformanceTest, BoundsTheAgeOnBothSides) {
  const auto request = a_signed_request();
  const std::chrono::seconds second{1};
  EXPECT_TRUE(is_accepted(provider_->verify(request, kNow + tolerance())));
  EXPECT_EQ(reason_of(provider_->verify(request, kNow + tolerance() + second)),
            RejectReason::kTimestampTooOld);
  EXPECT_TRUE(is_accepted(provider_->verify(request, kNow - tolerance())));
  EXPECT_EQ(reason_of(provider_->verify(request, kNow - tolerance() - second)),
            RejectReason::kTimestampInFuture);
}

TEST_P(ConformanceTest, LetsTheHeadOfWhatItAcceptsPass) {
  EXPECT_EQ(reason_of(provider_->refuse_by_head(head_of(a_signed_request()), kNow)), std::nullopt);
}

TEST_P(ConformanceTest, MissesEachHeaderInTheHeadAlready) {
  for (const auto& name : GetParam().headers) {
    auto head = head_of(a_signed_request());
    std::erase_if(head.headers, [&](const Header& header) { return header.name == name; });
    EXPECT_EQ(reason_of(provider_->refuse_by_head(head, kNow)), RejectReason::kSignatureMissing)
        << name;
  }
}

TEST_P(TimedConformanceTest, BoundsTheAgeByTheHeadAlready) {
  const auto head = head_of(a_signed_request());
  const std::chrono::seconds second{1};
  EXPECT_EQ(reason_of(provider_->refuse_by_head(head, kNow + tolerance())), std::nullopt);
  EXPECT_EQ(reason_of(provider_->refuse_by_head(head, kNow + tolerance() + second)),
            RejectReason::kTimestampTooOld);
  EXPECT_EQ(reason_of(provider_->refuse_by_head(head, kNow - tolerance() - second)),
            RejectReason::kTimestampInFuture);
}

// Headers of a signed request, each cut short everywhere and with each of its bytes changed.
std::vector<std::vector<Header>> spoiled(const std::vector<Header>& headers) {
  std::vector<std::vector<Header>> all;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    for (std::size_t at = 0; at < headers[i].value.size(); ++at) {
      all.push_back(headers);
      all.back()[i].value.resize(at);
      for (const char other : {',', '=', ' ', '0', 'Z'}) {
        all.push_back(headers);
        all.back()[i].value[at] = other;
      }
    }
  }
  return all;
}

TEST_P(ConformanceTest, RefusesByHeadAsItDoesWithAnyBody) {
  const auto request = a_signed_request();
  std::size_t refused = 0;
  for (const auto& headers : spoiled(request.headers)) {
    if (provider_->refuse_by_head(a_request("", headers), kNow)) ++refused;
    for (const std::string& body : {request.body, std::string{}, std::string{"{}"}}) {
      EXPECT_TRUE(agrees_with_its_head(*provider_, a_request(body, headers), kNow));
    }
  }
  // Where headers hold the signature, most of these are no signature any more.
  EXPECT_EQ(refused > 10, !GetParam().headers.empty());
}

TEST_P(ConformanceTest, SignsAgainInPlaceOfAnOldSignature) {
  auto request = a_signed_request();
  const auto once = request;
  provider_->sign(request, kNow);
  EXPECT_EQ(request.headers.size(), once.headers.size());
  EXPECT_EQ(request.body, once.body);
  EXPECT_TRUE(is_accepted(provider_->verify(request, kNow)));
}

TEST_P(ConformanceTest, GivesUsableEventsOfAnAcceptedRequest) {
  const auto events = provider_->events(a_signed_request());
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].unusable, "");
  EXPECT_NE(events[0].event_type, "");
  EXPECT_TRUE(!events[0].event_id.empty() && events[0].event_id.size() <= 255);
}

TEST_P(ConformanceTest, GivesARedeliveryTheSameKeyAndContent) {
  auto again = a_signed_request();
  provider_->sign(again, kNow + std::chrono::hours{1});
  const auto first = provider_->events(a_signed_request()).at(0);
  const auto second = provider_->events(again).at(0);
  EXPECT_EQ(second.scope, first.scope);
  EXPECT_EQ(second.event_id, first.event_id);
  EXPECT_EQ(second.content, first.content);
  EXPECT_EQ(second.signed_content, first.signed_content);
}

TEST_P(ConformanceTest, RefusesToStartWithoutAUsableSecret) {
  auto settings = GetParam().settings;
  const auto good = settings.secrets.front();
  for (const std::string bad : {"", " ", "\n", "white space"}) {
    settings.secrets = {good, Secret{bad}};
    try {
      make_provider(GetParam().provider, settings);
      ADD_FAILURE() << "took the secret '" << bad << "'";
    } catch (const InvalidProviderSettings& invalid) {
      EXPECT_EQ(invalid.secret_index, 1);
      EXPECT_NE(invalid.message, "");
    }
  }
  settings.secrets.clear();
  EXPECT_THROW(make_provider(GetParam().provider, settings), InvalidProviderSettings);
}

TEST_P(ConformanceTest, RefusesToStartWithSecretsCutFromTheirMiddle) {
  auto settings = GetParam().settings;
  auto text = settings.secrets.front().reveal();
  settings.secrets = {Secret{text.insert(text.size() / 2, "\n")}};
  EXPECT_THROW(make_provider(GetParam().provider, settings), InvalidProviderSettings);
}

TEST_P(ConformanceTest, RemembersIdsForAtLeastAWeek) {
  EXPECT_GE(provider_->redelivery_horizon(), std::chrono::days{8});
}

TEST(RegistryTest, ListsNoProviderWithoutAConformanceTest) {
  std::set<std::string_view> tested;
  const auto all = senders();
  for (const auto& sender : all) tested.insert(sender.provider);
  // Its clients bring a token and no signature: idempotency_key_test.cpp.
  tested.insert("idempotency-key");
  for (const auto name : provider_names()) EXPECT_TRUE(tested.contains(name)) << name;
}

TEST(RegistryTest, ListsNamesSortedAndOnce) {
  for (const auto& names : {provider_names(), later_provider_names()}) {
    EXPECT_TRUE(std::ranges::is_sorted(names));
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  }
}

TEST(RegistryTest, CallsNoProviderBothHereAndLater) {
  const auto later = later_provider_names();
  for (const auto name : provider_names()) {
    EXPECT_EQ(std::ranges::find(later, name), later.end()) << name;
  }
}

TEST(RegistryTest, MakesNothingForOtherNames) {
  const auto settings = with_secrets({kAdyenKey});
  EXPECT_EQ(make_provider("strip", settings), nullptr);
  EXPECT_EQ(make_provider("github", settings), nullptr);
  EXPECT_EQ(make_provider("", settings), nullptr);
}

}  // namespace
}  // namespace hookgate
