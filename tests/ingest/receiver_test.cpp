#include "ingest/receiver.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics_text.h"
#include "telemetry/metrics.h"
#include "test_database.h"

namespace hookgate {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr long long kNow = 1'767'225'600;

// Genuine is what says so in `X-Signature: genuine`; the body's words are the ids of its events. A
// head with `X-Signature: malformed` is refused without the body.
class PlainProvider final : public Provider {
 public:
  explicit PlainProvider(std::atomic<int>& verified) : verified_(verified) {}
  std::string_view name() const override { return "plain"; }
  std::optional<Rejected> refuse_by_head(const InboundRequest& head,
                                         SystemTime now) const override {
    EXPECT_EQ(now, SystemTime{seconds{kNow}});
    if (head.header("x-signature") != "malformed") return std::nullopt;
    return Rejected{RejectReason::kSignatureMalformed, "no list of signatures"};
  }
  Verdict verify(const InboundRequest& request, SystemTime) const override {
    ++verified_;
    if (request.header("x-signature") == "genuine") return Verified{1};
    return Rejected{RejectReason::kSignatureMismatch, "no secret matches"};
  }
  std::vector<NewEvent> events(const InboundRequest& request) const override {
    std::vector<NewEvent> events;
    std::string_view rest = request.body;
    while (!rest.empty()) {
      const auto blank = rest.find(' ');
      auto& event = events.emplace_back();
      event.event_id = rest.substr(0, blank);
      rest = blank == std::string_view::npos ? "" : rest.substr(blank + 1);
    }
    return events;
  }
  void sign(InboundRequest& request, SystemTime) const override {
    request.headers.push_back({"X-Signature", "genuine"});
  }
  std::chrono::hours redelivery_horizon() const override { return std::chrono::hours{1}; }

 private:
  std::atomic<int>& verified_;
};

InboundRequest a_request(std::string body = "evt_1", std::string_view signature = "genuine") {
  InboundRequest request;
  request.method = "POST";
  request.target = "/webhooks/plain";
  request.remote_address = "203.0.113.7";
  request.headers = {{"Host", "gateway.test"}, {"X-Signature", std::string{signature}}};
  request.body = std::move(body);
  return request;
}

std::vector<IpNetwork> networks(const std::vector<std::string_view>& texts) {
  std::vector<IpNetwork> parsed;
  for (const auto text : texts) parsed.push_back(IpNetwork::parse(text).value());
  return parsed;
}

std::string header_of(const Answer& answer, std::string_view name) {
  for (const auto& header : answer.headers) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return "";
}

class ReceiverTest : public testing::Test {
 protected:
  Source a_source() {
    Source source;
    source.name = "plain";
    source.provider = std::make_unique<PlainProvider>(verified_);
    source.allow = allow_;
    source.rate_limit = rate_limit_;
    return source;
  }
  SourceMap sources() {
    SourceMap map;
    map.emplace("plain", a_source());
    return map;
  }
  // What is set before the first call holds.
  Receiver& receiver() {
    if (receiver_) return *receiver_;
    PoolSettings pool;
    pool.url = database_ ? database_->url() : Secret{"postgresql://127.0.0.1:1/nowhere"};
    pool_ = std::make_unique<ConnectionPool>(pool);
    queue_ = std::make_unique<CommitQueue>(*pool_, queue_settings_, [] {});
    if (database_) queue_->start();
    settings_.metrics = &metrics_;
    responder_ = std::make_unique<Responder>(*pool_, system_now, ResponderSettings{}, [] {});
    receiver_ = std::make_unique<Receiver>(
        sources(), *queue_, *responder_, [] { return SystemTime{seconds{kNow}}; }, settings_,
        [this] { return ready_; });
    return *receiver_;
  }
  int early_status(const InboundRequest& head, std::optional<std::size_t> length = 5) {
    const auto answer = receiver().refuse_early(head, length);
    return answer ? answer->status : 0;
  }
  Answer answer_to(InboundRequest request) {
    auto promise = std::make_shared<std::promise<Answer>>();
    auto answer = promise->get_future();
    receiver().receive(std::move(request),
                       [promise](Answer given) { promise->set_value(std::move(given)); });
    EXPECT_EQ(answer.wait_for(seconds{10}), std::future_status::ready);
    return answer.get();
  }
  double metric(const std::string& series) const {
    return MetricsText{metrics_.text()}.value(series);
  }

  std::vector<IpNetwork> allow_;
  double rate_limit_ = 0;
  ReceiverSettings settings_;
  CommitQueueSettings queue_settings_;
  bool ready_ = true;
  std::atomic<int> verified_ = 0;
  std::unique_ptr<TestDatabase> database_;

 private:
  Metrics metrics_;
  std::unique_ptr<ConnectionPool> pool_;
  std::unique_ptr<CommitQueue> queue_;
  std::unique_ptr<Responder> responder_;
  std::unique_ptr<Receiver> receiver_;
};

using RefuseEarlyTest = ReceiverTest;

TEST_F(RefuseEarlyTest, LetsPassWhatTheBodyMustDecide) {
  EXPECT_EQ(early_status(a_request("evt_1", "wrong")), 0);
  EXPECT_EQ(early_status(a_request(), std::nullopt), 0);
  EXPECT_EQ(verified_, 0);
}

TEST_F(RefuseEarlyTest, KnowsProbesAndTheirMethods) {
  InboundRequest probe;
  probe.method = "GET";
  probe.target = "/healthz?verbose";
  EXPECT_EQ(early_status(probe), 0);
  probe.method = "POST";
  EXPECT_EQ(early_status(probe), 405);
}

// Each request has the faults of all that follow it in the list, and is refused for its first.
TEST_F(RefuseEarlyTest, RefusesForTheFirstFaultInTheirOrder) {
  allow_ = networks({"198.51.100.0/24"});
  settings_.body_bytes_max = 10;
  auto head = a_request("", "malformed");
  head.target = "/webhooks/other";
  head.method = "PUT";
  EXPECT_EQ(early_status(head, 11), 404);
  head.target = "/webhooks/plain?a=b";
  EXPECT_EQ(early_status(head, 11), 405);
  head.method = "POST";
  receiver().drain();
  EXPECT_EQ(early_status(head, 11), 403);
  head.remote_address = "198.51.100.1";
  EXPECT_EQ(early_status(head, 11), 503);
}

TEST_F(RefuseEarlyTest, RefusesByLengthBeforeTheSignature) {
  settings_.body_bytes_max = 10;
  EXPECT_EQ(early_status(a_request("", "malformed"), 11), 413);
  EXPECT_EQ(early_status(a_request("", "malformed"), 10), 400);
  EXPECT_EQ(early_status(a_request(), 10), 0);
}

TEST_F(RefuseEarlyTest, GivesTheShortReasonOnly) {
  const auto answer = receiver().refuse_early(a_request("", "malformed"), 5);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->content_type, "application/problem+json");
  EXPECT_THAT(answer->body, AllOf(HasSubstr("signature-malformed"), Not(HasSubstr("list"))));
  EXPECT_EQ(verified_, 0);
}

struct AddressCase {
  std::string_view why;
  std::string_view peer;
  std::string_view forwarded_for;
  int status;
};

TEST_F(RefuseEarlyTest, AllowsAClientByItsAddress) {
  allow_ = networks({"198.51.100.0/24", "2001:db8::/32"});
  settings_.trusted_proxies = networks({"10.0.0.0/8"});
  for (const auto& given : std::vector<AddressCase>{
           {"allowed", "198.51.100.1", "", 0},
           {"allowed, IPv6", "2001:db8::1", "", 0},
           {"allowed, mapped", "::ffff:198.51.100.1", "", 0},
           {"not allowed", "203.0.113.7", "", 403},
           {"the proxy itself", "10.0.0.1", "", 403},
           {"through the proxy", "10.0.0.1", "198.51.100.1", 0},
           {"through the proxy, not allowed", "10.0.0.1", "203.0.113.7", 403},
           {"forged before the proxy", "10.0.0.1", "198.51.100.1, 203.0.113.7", 403},
           {"forged without the proxy", "203.0.113.7", "198.51.100.1", 403},
           {"forged chain without the proxy", "203.0.113.7", "198.51.100.1, 10.0.0.1", 403},
           {"behind garbage", "10.0.0.1", "198.51.100.1, unknown", 403},
           {"a Unix socket", "", "198.51.100.1", 403}}) {
    auto head = a_request();
    head.remote_address = given.peer;
    if (!given.forwarded_for.empty())
      head.headers.push_back({"X-Forwarded-For", std::string{given.forwarded_for}});
    EXPECT_EQ(early_status(head), given.status) << given.why;
  }
}

TEST_F(RefuseEarlyTest, RefusesAnUnknownAddressOnlyWhereAddressesAreAsked) {
  auto head = a_request();
  head.remote_address = "";
  EXPECT_EQ(early_status(head), 0);
  SourceMap strict = sources();
  strict.at("plain").allow = networks({"0.0.0.0/0", "::/0"});
  receiver().replace_sources(std::move(strict));
  EXPECT_EQ(early_status(head), 403);
}

TEST_F(RefuseEarlyTest, BelievesATrustedUnixSocket) {
  allow_ = networks({"198.51.100.0/24"});
  settings_.trust_unix_socket = true;
  auto head = a_request();
  head.remote_address = "";
  EXPECT_EQ(early_status(head), 403);
  head.headers.push_back({"X-Forwarded-For", "198.51.100.1"});
  EXPECT_EQ(early_status(head), 0);
}

TEST_F(RefuseEarlyTest, CountsWhatItRefuses) {
  allow_ = networks({"198.51.100.0/24"});
  early_status(a_request());
  early_status(a_request());
  auto lost = a_request();
  lost.target = "/webhooks/other";
  early_status(lost);
  EXPECT_EQ(metric(R"(hookgate_requests_total{source="plain",status="403"})"), 2);
  EXPECT_EQ(metric(R"(hookgate_rejections_total{reason="address-not-allowed",source="plain"})"), 2);
  EXPECT_EQ(metric(R"(hookgate_events_total{outcome="rejected",source="plain"})"), 2);
  EXPECT_EQ(metric(R"(hookgate_requests_total{source="",status="404"})"), 1);
}

TEST_F(RefuseEarlyTest, LogsTheClientAndNotTheProxy) {
  settings_.trusted_proxies = networks({"10.0.0.0/8"});
  receiver();
  auto head = a_request("", "malformed");
  head.remote_address = "10.0.0.1";
  head.headers.push_back({"X-Forwarded-For", "198.51.100.1, 203.0.113.7"});
  testing::internal::CaptureStderr();
  early_status(head, 17);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("request refused source=plain reason=signature-malformed detail=\"no list "
                        "of signatures\" remote=203.0.113.7 bytes=17"));
}

TEST_F(RefuseEarlyTest, TellsHowManyItLeftOutOfTheLogWhenItDrains) {
  receiver();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 100; ++i) early_status(a_request("", "malformed"));
  receiver().drain();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("more requests refused source=plain reason=signature-malformed "
                        "left_out=95"));
}

class ReceiveTest : public ReceiverTest {
 protected:
  void SetUp() override {
    HOOKGATE_REQUIRE_DATABASE();
    database_ = std::make_unique<TestDatabase>();
  }
  std::int64_t stored() { return database_->count("hookgate.events"); }
};

TEST_F(ReceiveTest, AnswersOnceTheEventsAreStored) {
  const auto answer = answer_to(a_request("evt_1 evt_2"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"("status":"accepted")"));
  EXPECT_EQ(stored(), 2);
}

TEST_F(ReceiveTest, StoresNothingThatIsNotGenuine) {
  EXPECT_EQ(answer_to(a_request("evt_1", "wrong")).status, 401);
  EXPECT_EQ(stored(), 0);
}

TEST_F(ReceiveTest, StoresTheHeadWithoutCredentials) {
  auto request = a_request();
  request.headers.push_back({"Authorization", "Basic aW52ZW50ZWQ="});
  request.headers.push_back({"proxy-authorization", "Basic aW52ZW50ZWQ="});
  request.headers.push_back({"COOKIE", "a=b"});
  request.headers.push_back({"X-Split", "a\r\nCookie: b"});
  answer_to(std::move(request));
  EXPECT_EQ(database_->value("SELECT convert_from(head, 'UTF8') FROM hookgate.event_bodies"),
            "POST /webhooks/plain HTTP/1.1\r\nHost: gateway.test\r\nX-Signature: genuine\r\n"
            "X-Split: a  Cookie: b\r\n");
}

TEST_F(ReceiveTest, CountsOutcomesAndTheSecretThatMatched) {
  answer_to(a_request("evt_1 evt_2"));
  answer_to(a_request("evt_1"));
  answer_to(a_request("evt_3", "wrong"));
  EXPECT_EQ(metric(R"(hookgate_requests_total{source="plain",status="200"})"), 2);
  EXPECT_EQ(metric(R"(hookgate_requests_total{source="plain",status="401"})"), 1);
  EXPECT_EQ(metric(R"(hookgate_events_total{outcome="accepted",source="plain"})"), 2);
  EXPECT_EQ(metric(R"(hookgate_events_total{outcome="duplicate",source="plain"})"), 1);
  EXPECT_EQ(metric(R"(hookgate_events_total{outcome="rejected",source="plain"})"), 1);
  EXPECT_EQ(metric(R"(hookgate_rejections_total{reason="signature-mismatch",source="plain"})"), 1);
  EXPECT_EQ(metric(R"(hookgate_secret_matches_total{secret="1",source="plain"})"), 2);
  EXPECT_EQ(metric(R"(hookgate_last_event_timestamp_seconds{source="plain"})"), kNow);
}

TEST_F(ReceiveTest, LogsTheClientAndNotTheProxy) {
  settings_.trusted_proxies = networks({"10.0.0.0/8"});
  receiver();
  auto request = a_request("evt_1", "wrong");
  request.remote_address = "10.0.0.1";
  request.headers.push_back({"X-Forwarded-For", "198.51.100.1, 203.0.113.7"});
  testing::internal::CaptureStderr();
  answer_to(std::move(request));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(" remote=203.0.113.7 "));
}

// Of the rate below one event passes, and the next would in 17 minutes.
constexpr double kOneInAWhile = 0.001;

TEST_F(ReceiveTest, RefusesGenuineRequestsAboveTheRate) {
  rate_limit_ = kOneInAWhile;
  EXPECT_EQ(answer_to(a_request("evt_1")).status, 200);
  const auto answer = answer_to(a_request("evt_2"));
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.content_type, "application/problem+json");
  EXPECT_EQ(header_of(answer, "Retry-After"), "1000");
  EXPECT_EQ(stored(), 1);
  EXPECT_EQ(metric(R"(hookgate_rejections_total{reason="rate-limited",source="plain"})"), 1);
}

TEST_F(ReceiveTest, DoesNotCountForgedRequestsAgainstTheRate) {
  rate_limit_ = kOneInAWhile;
  for (int i = 0; i < 50; ++i) answer_to(a_request("evt_1", "wrong"));
  EXPECT_EQ(answer_to(a_request("evt_1")).status, 200);
}

TEST_F(ReceiveTest, CountsEveryEventOfARequestAgainstTheRate) {
  rate_limit_ = 0.01;
  EXPECT_EQ(answer_to(a_request("evt_1 evt_2 evt_3")).status, 200);
  EXPECT_EQ(header_of(answer_to(a_request("evt_4")), "Retry-After"), "300");
}

TEST_F(ReceiveTest, DoesNotRefillTheRateWhenSourcesAreReplaced) {
  rate_limit_ = kOneInAWhile;
  EXPECT_EQ(answer_to(a_request("evt_1")).status, 200);
  receiver().replace_sources(sources());
  EXPECT_EQ(answer_to(a_request("evt_2")).status, 429);
}

TEST_F(ReceiveTest, TakesOverALiftedRate) {
  rate_limit_ = kOneInAWhile;
  EXPECT_EQ(answer_to(a_request("evt_1")).status, 200);
  rate_limit_ = 0;
  receiver().replace_sources(sources());
  EXPECT_EQ(answer_to(a_request("evt_2")).status, 200);
}

using OverloadTest = ReceiverTest;

TEST_F(OverloadTest, IsAnsweredAtOnceWithRetryAfter) {
  queue_settings_.requests_max = 0;
  const auto answer = answer_to(a_request());
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(header_of(answer, "Retry-After"), "1");
  EXPECT_EQ(metric(R"(hookgate_requests_total{source="plain",status="503"})"), 1);
}

TEST_F(OverloadTest, LeavesProbesAlone) {
  auto probe = a_request();
  probe.target = "/readyz";
  EXPECT_EQ(answer_to(probe).status, 200);
  ready_ = false;
  EXPECT_EQ(answer_to(probe).status, 503);
  probe.target = "/healthz";
  EXPECT_EQ(answer_to(probe).status, 200);
}

TEST_F(OverloadTest, MeansNotReadyWhileItDrains) {
  auto probe = a_request();
  probe.target = "/readyz";
  receiver().drain();
  EXPECT_EQ(answer_to(probe).status, 503);
}

}  // namespace
}  // namespace hookgate
