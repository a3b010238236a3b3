#include "cli/replay.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <httplib.h>
#include <sys/socket.h>

#include "cli_test_support.h"
#include "domain/http_message.h"

namespace hookgate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr auto kAccepted = R"({"status":"accepted","events":[]})";

// A server on a free port of the loopback that keeps what it was sent.
class ReplayTest : public CliTest {
 protected:
  using Answering = std::function<void(const httplib::Request&, httplib::Response&)>;

  ReplayTest() {
    server_.set_tcp_nodelay(true);
    server_.Post(".*", [this](const httplib::Request& request, httplib::Response& answer) {
      Answering answering;
      {
        const std::lock_guard lock{mutex_};
        received_.push_back(request);
        answering = answering_;
      }
      answer.set_content(kAccepted, "application/json");
      if (answering) answering(request, answer);
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::jthread{[this] { server_.listen_after_bind(); }};
    while (!server_.is_running()) std::this_thread::yield();
    options_.to = "http://127.0.0.1:" + std::to_string(port_);
    options_.paths = {folder()};
    options_.concurrency = 1;
    options_.clock = [] { return kNow; };
    options_.sources["stripe"] = {"stripe", settings_with(kStripeSecret), std::nullopt};
    options_.sources["adyen"] = {"adyen", settings_with(kAdyenKey), std::nullopt};
  }
  ~ReplayTest() override { server_.stop(); }
  ReplayTest(const ReplayTest&) = delete;
  ReplayTest& operator=(const ReplayTest&) = delete;

  void add_fixture(const std::string& name, const std::string& body = "{}",
                   const std::string& source = "stripe", const std::string& headers = "") const {
    write(name, "POST /webhooks/" + source + " HTTP/1.1\r\n" + headers + "\r\n" + body);
  }

  ReplayReport run() { return replay(options_); }

  // What becomes of one request that is answered so.
  ReplayCounts counts_for(int status, const std::string& body, bool is_replayed = false) {
    add_fixture("a.http");
    answer_with([=](const httplib::Request&, httplib::Response& answer) {
      answer.status = status;
      answer.set_content(body, "application/json");
      if (is_replayed) answer.set_header("Idempotent-Replayed", "true");
    });
    return run().total;
  }

  // The request as a provider sees it.
  static InboundRequest inbound(const httplib::Request& request) {
    auto made = a_request(request.target, request.body);
    for (const auto& [name, value] : request.headers) made.headers.push_back({name, value});
    return made;
  }

  std::vector<std::string> bodies() {
    std::vector<std::string> bodies;
    for (const auto& request : received()) bodies.push_back(request.body);
    return bodies;
  }

  // What the server was sent, in order. Any thread.
  std::vector<httplib::Request> received() {
    const std::lock_guard lock{mutex_};
    return received_;
  }
  void forget_received() {
    const std::lock_guard lock{mutex_};
    received_.clear();
  }
  // How it answers from now on, in place of "accepted".
  void answer_with(Answering answering) {
    const std::lock_guard lock{mutex_};
    answering_ = std::move(answering);
  }

  ReplayOptions options_;

 private:
  std::mutex mutex_;  // guards the next two
  std::vector<httplib::Request> received_;
  Answering answering_;
  httplib::Server server_;
  int port_ = 0;
  std::jthread thread_;
};

TEST_F(ReplayTest, SendsTheBodyAndThePathOfTheFixture) {
  const std::string body = "{\"a\":\r\n\"é\"}\n";
  write("a.http",
        "POST /webhooks/stripe?x=%2F,a+b HTTP/1.1\r\nX-Own: 1\r\nHost: old.test\r\n\r\n" + body);
  EXPECT_EQ(run().total.accepted, 1U);
  ASSERT_THAT(received(), SizeIs(1));
  EXPECT_EQ(received()[0].body, body);
  EXPECT_EQ(received()[0].target, "/webhooks/stripe?x=%2F,a+b");
  EXPECT_EQ(received()[0].get_header_value("X-Own"), "1");
  EXPECT_EQ(received()[0].get_header_value_count("Host"), 1U);
  EXPECT_THAT(received()[0].get_header_value("Host"), HasSubstr("127.0.0.1"));
}

TEST_F(ReplayTest, PutsThePrefixOfTheUrlBeforeThePath) {
  add_fixture("a.http");
  options_.to += "/gate/";
  run();
  ASSERT_THAT(received(), SizeIs(1));
  EXPECT_EQ(received()[0].target, "/gate/webhooks/stripe");
}

TEST_F(ReplayTest, SignsWithTheSourcesSecretAtTheTimeOfSending) {
  add_fixture("a.http", "{}", "stripe", "Stripe-Signature: t=1,v1=00\r\n");
  run();
  ASSERT_THAT(received(), SizeIs(1));
  const auto stripe = provider_with("stripe", kStripeSecret);
  EXPECT_TRUE(std::holds_alternative<Verified>(stripe->verify(inbound(received()[0]), kNow)));
}

TEST_F(ReplayTest, KeepsTheSignatureWhenAsked) {
  add_fixture("a.http", "{}", "unknown", "Stripe-Signature: t=1,v1=00\r\n");
  options_.keep_signature = true;
  run();
  ASSERT_THAT(received(), SizeIs(1));
  EXPECT_EQ(received()[0].get_header_value("Stripe-Signature"), "t=1,v1=00");
}

TEST_F(ReplayTest, SignsWithTheGivenProviderAndSecretInPlaceOfTheSources) {
  add_fixture("a.http", "{}", "elsewhere");
  options_.provider = "standard-webhooks";
  options_.secret = Secret{kStandardSecret};
  run();
  ASSERT_THAT(received(), SizeIs(1));
  const auto standard = provider_with("standard-webhooks", kStandardSecret);
  EXPECT_TRUE(std::holds_alternative<Verified>(standard->verify(inbound(received()[0]), kNow)));
}

TEST_F(ReplayTest, SendsTheBasicCredentialsOfTheSource) {
  add_fixture("a.http", "{}", "stripe", "Authorization: Basic b2xkOm9sZA==\r\n");
  options_.sources["stripe"].basic_auth = BasicCredentials{Secret{"user"}, Secret{"pass"}};
  run();
  ASSERT_THAT(received(), SizeIs(1));
  EXPECT_EQ(received()[0].get_header_value_count("Authorization"), 1U);
  EXPECT_EQ(received()[0].get_header_value("Authorization"), "Basic dXNlcjpwYXNz");
}

TEST_F(ReplayTest, SendsEachFixtureAsOftenAsAsked) {
  add_fixture("a.http", "1");
  add_fixture("b.http", "2");
  options_.times = 3;
  EXPECT_EQ(run().total.sent, 6U);
  EXPECT_THAT(bodies(), ElementsAre("1", "2", "1", "2", "1", "2"));
}

TEST_F(ReplayTest, ShufflesTheSameWayForTheSameSeed) {
  for (int i = 10; i < 30; ++i) add_fixture(std::to_string(i) + ".http", std::to_string(i));
  options_.times = 2;
  options_.shuffle = 7;
  run();
  const auto first = bodies();
  forget_received();
  run();
  EXPECT_EQ(bodies(), first);
  forget_received();
  options_.shuffle = 8;
  run();
  EXPECT_THAT(bodies(), Not(first));
  auto sorted = first;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted.front(), "10");
  EXPECT_EQ(sorted[1], "10");
  EXPECT_EQ(sorted.back(), "29");
  EXPECT_FALSE(std::ranges::is_sorted(first));
}

TEST_F(ReplayTest, SendsEachRequestOnceOverSeveralConnections) {
  for (int i = 0; i < 40; ++i) add_fixture(std::to_string(i) + ".http", std::to_string(i));
  options_.concurrency = 8;
  EXPECT_EQ(run().total.accepted, 40U);
  auto all = bodies();
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_EQ(all.size(), 40U);
}

TEST_F(ReplayTest, KeepsItsConnectionAlive) {
  for (int i = 0; i < 4; ++i) add_fixture(std::to_string(i) + ".http");
  run();
  ASSERT_THAT(received(), SizeIs(4));
  EXPECT_EQ(received()[3].remote_port, received()[0].remote_port);
}

TEST_F(ReplayTest, CountsAcceptedBodiesOfBothForms) {
  EXPECT_EQ(counts_for(200, kAccepted).accepted, 1U);
  EXPECT_EQ(counts_for(200, "[accepted]").accepted, 1U);
}

TEST_F(ReplayTest, CountsAReplayedAnswerAsDuplicate) {
  EXPECT_EQ(counts_for(200, "[accepted]", true).duplicate, 1U);
  EXPECT_EQ(counts_for(200, R"({"status":"duplicate","events":[]})").duplicate, 1U);
}

TEST_F(ReplayTest, CountsAConflict) {
  EXPECT_EQ(counts_for(200, R"({"status":"conflict","events":[]})").conflict, 1U);
}

TEST_F(ReplayTest, CountsARefusalAndSaysWhy) {
  const auto counts = counts_for(401, R"({"title":"signature-mismatch","status":401})");
  EXPECT_EQ(counts.rejected, 1U);
  EXPECT_THAT(run().errors, ElementsAre(HasSubstr("a.http: 401 signature-mismatch")));
}

TEST_F(ReplayTest, CountsAServerFaultAndARedirectAsFailed) {
  EXPECT_EQ(counts_for(503, "busy").failed, 1U);
  EXPECT_EQ(counts_for(302, "").failed, 1U);
}

TEST_F(ReplayTest, ShowsNoControlCharacterOfAnAnswer) {
  counts_for(500, "\x1b[31mred\nline");
  EXPECT_THAT(run().errors, ElementsAre(HasSubstr("500  [31mred line")));
}

TEST_F(ReplayTest, CountsEachSourceAndTheTotal) {
  add_fixture("a.http");
  add_fixture("b.http", "{}", "adyen");
  answer_with([](const httplib::Request& request, httplib::Response& answer) {
    if (request.path == "/webhooks/adyen") answer.status = 400;
  });
  const auto report = run();
  EXPECT_EQ(report.sources.at("stripe").accepted, 1U);
  EXPECT_EQ(report.sources.at("adyen").rejected, 1U);
  EXPECT_EQ(report.total.sent, 2U);
  EXPECT_EQ(replay_exit_code(report), 1);
}

TEST_F(ReplayTest, KeepsTheFirstErrorsOnly) {
  add_fixture("a.http");
  options_.times = 25;
  answer_with([](const httplib::Request&, httplib::Response& answer) { answer.status = 500; });
  const auto report = run();
  EXPECT_EQ(report.total.failed, 25U);
  EXPECT_THAT(report.errors, SizeIs(kReplayErrorsMax));
}

TEST_F(ReplayTest, TellsThatNothingListens) {
  add_fixture("a.http");
  const int reserved = socket(AF_INET, SOCK_STREAM, 0);  // bound and not listening: refuses
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(reserved, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(getsockname(reserved, reinterpret_cast<sockaddr*>(&address), &size), 0);
  options_.to = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  options_.times = 2;
  const auto report = run();
  close(reserved);
  EXPECT_EQ(report.total.failed, 2U);
  EXPECT_EQ(report.not_connected, 2U);
  EXPECT_EQ(replay_exit_code(report), 3);
}

TEST_F(ReplayTest, CountsAnAnswerThatIsTooLargeAsFailed) {
  EXPECT_EQ(counts_for(200, std::string(2 * 1024 * 1024, 'x')).failed, 1U);
}

TEST_F(ReplayTest, LeavesTheRestOutAfterAStopRequest) {
  for (int i = 0; i < 10; ++i) add_fixture(std::to_string(i) + ".http");
  std::stop_source stop;
  answer_with([&](const httplib::Request&, httplib::Response&) {
    if (received().size() == 3) stop.request_stop();
  });
  const auto report = replay(options_, stop.get_token());
  EXPECT_EQ(report.total.accepted, 3U);
  EXPECT_EQ(report.planned, 10U);
  EXPECT_EQ(replay_exit_code(report), 1);
}

TEST_F(ReplayTest, AStopRequestEndsTheWaitForALowRate) {
  add_fixture("a.http");
  add_fixture("b.http");
  options_.rate = 0.0001;
  std::stop_source stop;
  answer_with([&](const httplib::Request&, httplib::Response&) { stop.request_stop(); });
  EXPECT_EQ(replay(options_, stop.get_token()).total.sent, 1U);
}

TEST_F(ReplayTest, StartsNoRequestBeforeItsTurn) {
  add_fixture("a.http");
  options_.times = 5;
  options_.rate = 100;
  EXPECT_GE(run().elapsed.count(), 0.04);
}

TEST_F(ReplayTest, TellsItsProgressFromNothingToAll) {
  add_fixture("a.http");
  options_.times = 3;
  std::vector<std::uint64_t> done;
  options_.on_progress = [&](std::uint64_t now, std::uint64_t planned) {
    done.push_back(now);
    EXPECT_EQ(planned, 3U);
  };
  run();
  EXPECT_THAT(done, ElementsAre(0, 1, 2, 3));
}

TEST_F(ReplayTest, RefusesWhatCannotBeDoneBeforeTheFirstRequest) {
  add_fixture("a.http", "{}", "elsewhere");
  const auto refusal = [this] { return message_of<ReplayError>([this] { run(); }); };
  EXPECT_THAT(refusal(), HasSubstr("no secret for the source 'elsewhere'"));
  options_.provider = "nobody";
  options_.secret = Secret{"x"};
  EXPECT_THAT(refusal(), HasSubstr("unknown provider 'nobody'"));
  options_.provider = "adyen";
  EXPECT_THAT(refusal(), HasSubstr("source 'elsewhere': the HMAC key is not 64 hex digits"));
  options_.keep_signature = true;
  for (const auto* url :
       {"", "127.0.0.1:8080", "http://", "ftp://x", "http://x/?y", "http://u@x"}) {
    options_.to = url;
    EXPECT_THAT(refusal(), HasSubstr("is not a URL like")) << url;
  }
  EXPECT_THAT(received(), SizeIs(0));
}

}  // namespace
}  // namespace hookgate
