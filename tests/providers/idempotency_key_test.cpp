#include "providers/idempotency_key.h"

#include <string>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

ProviderSettings settings() {
  ProviderSettings settings;
  settings.clients = {{"web", Secret{"invented-web"}}, {"mobile", Secret{"invented-mobile"}}};
  return settings;
}

InboundRequest request(const std::string& token, const std::string& key,
                       const std::string& body = R"({"a":1,"b":[1.50,null]})") {
  InboundRequest request;
  request.method = "POST";
  request.target = "/webhooks/orders";
  request.headers = {{"authorization", token}, {"idempotency-key", key}};
  request.body = body;
  return request;
}

std::string verdict(const InboundRequest& request) {
  const auto verdict = IdempotencyKey{settings()}.verify(request, SystemTime{});
  if (const auto* const rejected = std::get_if<Rejected>(&verdict))
    return std::string{reason_code(rejected->reason)};
  return "client " + std::to_string(std::get<Verified>(verdict).secret_index);
}

Digest content(const InboundRequest& request) {
  return IdempotencyKey{settings()}.events(request).at(0).content;
}

TEST(IdempotencyKeyProviderTest, TellsClientsByTheirToken) {
  EXPECT_EQ(verdict(request("Bearer invented-web", "k")), "client 0");
  EXPECT_EQ(verdict(request("bearer  invented-mobile ", "k")), "client 1");
  EXPECT_EQ(verdict(request("Bearer invented-we", "k")), "credentials-mismatch");
  EXPECT_EQ(verdict(request("Bearer invented-webb", "k")), "credentials-mismatch");
  EXPECT_EQ(verdict(request("Bearer ", "k")), "credentials-mismatch");
  EXPECT_EQ(verdict(request("Basic invented-web", "k")), "credentials-mismatch");
  auto without = request("", "k");
  without.headers.erase(without.headers.begin());
  EXPECT_EQ(verdict(without), "credentials-missing");
  auto twice = request("Bearer invented-web", "k");
  twice.headers.push_back({"Authorization", "Bearer invented-web"});
  EXPECT_EQ(verdict(twice), "credentials-mismatch");
}

TEST(IdempotencyKeyProviderTest, JudgesCredentialsBeforeTheKeyAndTheKeyBeforeTheBody) {
  EXPECT_EQ(verdict(request("Bearer x", "", "{")), "credentials-mismatch");
  EXPECT_EQ(verdict(request("Bearer invented-web", "", "{")), "idempotency-key-missing");
  EXPECT_EQ(verdict(request("Bearer invented-web", "k", "{")), "body-unreadable");
}

TEST(IdempotencyKeyProviderTest, TakesKeysOf1To255Bytes) {
  EXPECT_EQ(verdict(request("Bearer invented-web", " \t ")), "idempotency-key-missing");
  EXPECT_EQ(verdict(request("Bearer invented-web", std::string(255, 'k'))), "client 0");
  EXPECT_EQ(verdict(request("Bearer invented-web", std::string(256, 'k'))),
            "idempotency-key-malformed");
  EXPECT_EQ(verdict(request("Bearer invented-web", "a\x01")), "idempotency-key-malformed");
  EXPECT_EQ(verdict(request("Bearer invented-web", "a\xff")), "idempotency-key-malformed");
  EXPECT_EQ(verdict(request("Bearer invented-web", "\xc3\xa9")), "client 0");
}

TEST(IdempotencyKeyProviderTest, TheClientIsTheScopeAndTheKeyTheId) {
  const auto events = IdempotencyKey{settings()}.events(request("Bearer invented-mobile", " k 1 "));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].scope, "mobile");
  EXPECT_EQ(events[0].event_id, "k 1");
  EXPECT_EQ(events[0].event_type, "request");
}

TEST(IdempotencyKeyProviderTest, TheContentIsMethodPathAndCanonicalBody) {
  const auto plain = request("Bearer invented-web", "k");
  EXPECT_EQ(content(plain), content(request("Bearer invented-web", "other", plain.body)));
  EXPECT_EQ(content(plain),
            content(request("Bearer invented-web", "k", R"( {"b":[1.50, null],"a":1} )")));
  EXPECT_NE(content(plain),
            content(request("Bearer invented-web", "k", R"({"a":1,"b":[1.5,null]})")));
  EXPECT_NE(content(plain),
            content(request("Bearer invented-web", "k", R"({"a":1,"b":[null,1.50]})")));
  auto other_path = plain;
  other_path.target = "/webhooks/others";
  EXPECT_NE(content(plain), content(other_path));
  auto other_method = plain;
  other_method.method = "PUT";
  EXPECT_NE(content(plain), content(other_method));
}

TEST(IdempotencyKeyProviderTest, SignsAsTheFirstClient) {
  InboundRequest bare = request("Bearer x", "k");
  IdempotencyKey{settings()}.sign(bare, SystemTime{});
  EXPECT_EQ(verdict(bare), "client 0");
  EXPECT_EQ(bare.header("Idempotency-Key"), "k");
  bare.headers.clear();
  IdempotencyKey{settings()}.sign(bare, SystemTime{});
  EXPECT_EQ(verdict(bare), "client 0");
}

TEST(IdempotencyKeyProviderTest, RefusesSettingsThatTellNobodyApart) {
  EXPECT_THROW(IdempotencyKey{ProviderSettings{}}, InvalidProviderSettings);
  for (const auto& clients :
       std::vector<std::vector<ApiClient>>{{{"a", Secret{""}}},
                                           {{"a", Secret{"x y"}}},
                                           {{"a", Secret{"x"}}, {"a", Secret{"y"}}},
                                           {{"a", Secret{"x"}}, {"b", Secret{"x"}}}}) {
    ProviderSettings bad;
    bad.clients = clients;
    EXPECT_THROW(IdempotencyKey{bad}, InvalidProviderSettings);
  }
}

}  // namespace
}  // namespace hookgate
