#include <nlohmann/json.hpp>

#include "gateway_support.h"

namespace hookgate {
namespace {

class AnswersTest : public GatewayTest {
 protected:
  void SetUp() override {
    GatewayTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    address_ = start_gateway();
  }
  HttpResult post(const InboundRequest& request) { return send(address_, request); }
  InboundRequest stripe(const std::string& body) {
    return signed_request(*stripe_, "stripe", body, system_now());
  }
  HttpResult get(const std::string& target) {
    InboundRequest request;
    request.method = "GET";
    request.target = target;
    return send(address_, request);
  }
  std::string address_;
  std::unique_ptr<Provider> stripe_ = test_provider("stripe", kStripeSecret);
  std::unique_ptr<Provider> adyen_ = test_provider("adyen", kAdyenKey);
};

TEST_F(AnswersTest, AcceptsOnceAndThenReplaysWithTheHeader) {
  const auto request =
      stripe(stripe_event("evt_1", "charge.expired", R"({"id":"ch_1","object":"charge"})"));
  const auto first = post(request);
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, R"({"status":"accepted","events":[{"id":"evt_1","status":"accepted"}]})");
  EXPECT_EQ(first.header("Idempotent-Replayed"), "");
  const auto second = post(request);
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body,
            R"({"status":"duplicate","events":[{"id":"evt_1","status":"duplicate"}]})");
  EXPECT_EQ(second.header("Idempotent-Replayed"), "true");
}

TEST_F(AnswersTest, CallsOtherSignedContentUnderOneIdAConflict) {
  post(stripe(stripe_event("evt_1", "invoice.created", R"({"id":"in_1","amount":1})")));
  const auto answer =
      post(stripe(stripe_event("evt_1", "invoice.created", R"({"id":"in_1","amount":2})")));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(nlohmann::json::parse(answer.body)["status"], "conflict");
}

TEST_F(AnswersTest, TakesARedeliveryWithAnotherPendingWebhooksForADuplicate) {
  auto body = stripe_event("evt_1", "invoice.created", R"({"id":"in_1"})");
  post(stripe(body));
  body.replace(body.find("\"pending_webhooks\":1"), 20, "\"pending_webhooks\":0");
  EXPECT_EQ(nlohmann::json::parse(post(stripe(body)).body)["status"], "duplicate");
  EXPECT_EQ(database().count("hookgate.conflicts"), 0);
}

TEST_F(AnswersTest, AnswersAdyenInItsOwnWords) {
  const std::string body =
      R"({"live":"false","notificationItems":[{"NotificationRequestItem":{"amount":{"currency":"EUR","value":5},)"
      R"("eventCode":"REPORT_AVAILABLE","eventDate":"2026-01-01T01:00:00+01:00","merchantAccountCode":"A",)"
      R"("merchantReference":"","pspReference":"r.csv","reason":"","success":"true"}}]})";
  const auto answer = post(signed_request(*adyen_, "adyen", body, system_now()));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "[accepted]");
  EXPECT_EQ(answer.header("Content-Type"), "text/plain");
}

TEST_F(AnswersTest, RefusesAWrongSignatureAsAProblemAndStoresNothing) {
  auto request = stripe(stripe_event("evt_1", "invoice.created", "{}"));
  request.body += " ";
  const auto answer = post(request);
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(nlohmann::json::parse(answer.body)["title"], "signature-mismatch");
  EXPECT_EQ(database().count("hookgate.events"), 0);
}

TEST_F(AnswersTest, RefusesAMalformedSignatureWith400) {
  auto request = stripe(stripe_event("evt_1", "invoice.created", "{}"));
  for (auto& header : request.headers) {
    if (header.name == "Stripe-Signature") header.value = "t=soon,v1=xyz";
  }
  EXPECT_EQ(post(request).status, 400);
}

// Law 9: what is authentic is never refused, or it would jam the provider's queue.
TEST_F(AnswersTest, KeepsAnAuthenticBodyThatIsNoJsonAndSays200) {
  const auto answer = post(stripe("this is no JSON"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(database().value("SELECT status FROM hookgate.events"), "dead");
  EXPECT_EQ(database().value("SELECT convert_from(body, 'UTF8') FROM hookgate.event_bodies"),
            "this is no JSON");
  EXPECT_EQ(post(stripe("this is no JSON")).header("Idempotent-Replayed"), "true");
}

TEST_F(AnswersTest, KnowsNoOtherPathsAndMethods) {
  EXPECT_EQ(get("/").status, 404);
  EXPECT_EQ(get("/webhooks/stripe").status, 405);
  EXPECT_EQ(get("/webhooks/stripe").header("Allow"), "POST");
  auto request = stripe("{}");
  request.target = "/webhooks/nobody";
  EXPECT_EQ(post(request).status, 404);
}

TEST_F(AnswersTest, RefusesABodyOverTheLimitAndTakesOneAtTheLimit) {
  const auto head = std::string{R"({"id":"evt_big","type":"x.y","pad":")"};
  const auto tail = std::string{R"("})"};
  const std::size_t limit = 1024 * 1024;
  const auto body = head + std::string(limit - head.size() - tail.size(), 'x') + tail;
  EXPECT_EQ(post(stripe(body)).status, 200);
  EXPECT_EQ(post(stripe(body + " ")).status, 413);
  EXPECT_EQ(database().count("hookgate.events"), 1);
}

TEST_F(AnswersTest, RefusesAContentEncoding) {
  auto request = stripe("{}");
  request.headers.push_back({"Content-Encoding", "gzip"});
  EXPECT_EQ(post(request).status, 415);
}

TEST_F(AnswersTest, SaysThatItIsUpAndReady) {
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/readyz").status, 200);
}

TEST_F(AnswersTest, KeepsNoCredentialsOfARequest) {
  auto request = stripe(stripe_event("evt_1", "invoice.created", "{}"));
  request.headers.push_back({"Authorization", "Bearer invented-token"});
  request.headers.push_back({"X-Kept", "yes"});
  post(request);
  const auto head =
      database().value("SELECT convert_from(head, 'UTF8') FROM hookgate.event_bodies");
  EXPECT_EQ(head.find("invented-token"), std::string::npos);
  EXPECT_NE(head.find("X-Kept: yes"), std::string::npos);
}

class SourceRulesTest : public GatewayTest {};

TEST_F(SourceRulesTest, StoresTestEventsOfALiveSourceAsIgnoredWithoutAnEffect) {
  const auto address = start_gateway(test_config(
      database().url(), 2, source_block("stripe", "stripe", {kStripeSecret}, "live = true")));
  const auto provider = test_provider("stripe", kStripeSecret);
  const auto answer =
      send(address, signed_request(*provider, "stripe",
                                   stripe_event("evt_1", "charge.failed", "{}"), system_now()));
  EXPECT_EQ(answer.status, 200);
  drain();
  EXPECT_EQ(database().value("SELECT status FROM hookgate.events"), "ignored");
  EXPECT_EQ(effects(), 0);
}

TEST_F(SourceRulesTest, NeverLetThePeerChooseItsAddress) {
  const auto address = start_gateway(
      test_config(database().url(), 0,
                  source_block("stripe", "stripe", {kStripeSecret}, R"(allow = ["6.6.6.6"])")));
  const auto provider = test_provider("stripe", kStripeSecret);
  auto request = signed_request(*provider, "stripe", stripe_event("evt_1", "charge.failed", "{}"),
                                system_now());
  for (const auto* name : {"REMOTE_ADDR", "X-Forwarded-For", "X-Real-IP", "Forwarded"})
    request.headers.push_back({name, "6.6.6.6"});
  EXPECT_EQ(send(address, request).status, 403);
}

TEST_F(SourceRulesTest, AsksForBasicAuthenticationBesidesTheSignature) {
  const auto address =
      start_gateway(test_config(database().url(), 2,
                                source_block("stripe", "stripe", {kStripeSecret},
                                             R"(basic_auth = { user = "u", password = "p:w" })")));
  const auto provider = test_provider("stripe", kStripeSecret);
  auto request =
      signed_request(*provider, "stripe", stripe_event("evt_1", "x.y", "{}"), system_now());
  const auto without = send(address, request);
  EXPECT_EQ(without.status, 401);
  EXPECT_EQ(without.header("WWW-Authenticate"), "Basic realm=\"webhooks\"");
  request.headers.push_back({"Authorization", "Basic dTpwOnc="});  // u:p:w
  EXPECT_EQ(send(address, request).status, 200);
}

TEST_F(SourceRulesTest, TakesOverNewSecretsWithoutARestart) {
  const std::string old_secret = kStripeSecret;
  const std::string new_secret = "whsec_invented_for_tests_only_0002";
  const auto block = [](const std::vector<std::string>& secrets) {
    return source_block("stripe", "stripe", secrets);
  };
  const auto address =
      start_gateway(test_config(database().url(), 2, block({old_secret, new_secret})));
  const auto old_provider = test_provider("stripe", old_secret);
  const auto new_provider = test_provider("stripe", new_secret);
  const auto post = [&](const Provider& provider, const std::string& id) {
    return send(address,
                signed_request(provider, "stripe", stripe_event(id, "x.y", "{}"), system_now()))
        .status;
  };
  EXPECT_EQ(post(*old_provider, "evt_1"), 200);
  EXPECT_EQ(post(*new_provider, "evt_2"), 200);
  EXPECT_TRUE(app().reload(
      parse_config(test_config(database().url(), 2, block({new_secret})), "test.toml")));
  EXPECT_EQ(post(*old_provider, "evt_3"), 401);
  EXPECT_EQ(post(*new_provider, "evt_4"), 200);
  EXPECT_EQ(
      database().value(
          "SELECT string_agg(secret_index::text, ',' ORDER BY event_id) FROM hookgate.events"),
      "0,1,0");
}

TEST_F(SourceRulesTest, DoesNotReloadWhenTheSourcesAreOthers) {
  start_gateway();
  EXPECT_FALSE(app().reload(parse_config(
      test_config(database().url(), 2, source_block("other", "stripe", {kStripeSecret})),
      "test.toml")));
}

}  // namespace
}  // namespace hookgate
