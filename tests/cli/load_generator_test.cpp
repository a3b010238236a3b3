#include "cli/load_generator.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli_test_support.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr auto kAcceptedBody = R"({"status":"accepted"})";
constexpr auto kClose = "";  // as an answer: the connection ends without one

std::string http_answer(int status, const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 " + std::to_string(status) + " Whatever\r\nContent-Type: application/json\r\n" +
         headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Stands in for a gateway and is none: it answers whatever the test says, so that wrong answers can
// be had. One thread serves all connections.
class FakeGateway {
 public:
  // The answer's bytes; kClose; nothing: no answer ever.
  using Answering = std::function<std::optional<std::string>(const InboundRequest&)>;

  explicit FakeGateway(Answering answering, const std::string& unix_path = "")
      : answering_(std::move(answering)) {
    if (unix_path.empty()) {
      listen_on_loopback();
    } else {
      listen_on(unix_path);
    }
    thread_ = std::jthread{[this](const std::stop_token& stop) { serve(stop); }};
  }
  ~FakeGateway() {
    thread_.request_stop();
    thread_.join();
    for (const auto& [fd, text] : connections_) close(fd);
    close(listener_);
  }
  FakeGateway(const FakeGateway&) = delete;
  FakeGateway& operator=(const FakeGateway&) = delete;

  std::uint16_t port() const { return port_; }
  int accepted() const { return accepted_; }

 private:
  void listen_on_loopback() {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    listen(listener_, 512);
  }

  void listen_on(const std::string& path) {
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    listen(listener_, 512);
  }

  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pollfd> ready{{listener_, POLLIN, 0}};
      for (const auto& [fd, text] : connections_) ready.push_back({fd, POLLIN, 0});
      poll(ready.data(), ready.size(), 20);
      if (ready.front().revents != 0) {
        connections_[accept(listener_, nullptr, nullptr)];
        ++accepted_;
      }
      for (std::size_t i = 1; i < ready.size(); ++i) {
        if (ready[i].revents != 0 && !handle(ready[i].fd)) {
          close(ready[i].fd);
          connections_.erase(ready[i].fd);
        }
      }
    }
  }

  // False: the connection is over.
  bool handle(int fd) {
    auto& text = connections_[fd];
    char buffer[16 * 1024];
    const auto got = recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return false;
    text.append(buffer, static_cast<std::size_t>(got));
    const auto request = take_request(text);
    if (!request) return true;
    const auto answer = answering_(*request);
    if (!answer) return true;
    if (answer->empty()) return false;
    send(fd, answer->data(), answer->size(), MSG_NOSIGNAL);
    return answer->find("Connection: close") == std::string::npos;
  }

  static std::optional<InboundRequest> take_request(std::string& text) {
    const auto head_end = text.find("\r\n\r\n");
    if (head_end == std::string::npos) return std::nullopt;
    InboundRequest request;
    request.method = text.substr(0, text.find(' '));
    request.target = text.substr(5, text.find(' ', 5) - 5);
    for (auto line = text.find("\r\n") + 2; line < head_end;) {
      const auto end = text.find("\r\n", line);
      const auto colon = text.find(": ", line);
      request.headers.push_back(
          {text.substr(line, colon - line), text.substr(colon + 2, end - colon - 2)});
      line = end + 2;
    }
    const auto length = std::stoul(std::string{*request.header("Content-Length")});
    if (text.size() < head_end + 4 + length) return std::nullopt;
    request.body = text.substr(head_end + 4, length);
    text.clear();
    return request;
  }

  Answering answering_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::map<int, std::string> connections_;  // what came and is not a whole request
  std::atomic<int> accepted_ = 0;
  std::jthread thread_;
};

class LoadGeneratorTest : public CliTest {
 protected:
  LoadGeneratorTest() : provider_(provider_with("stripe", kStripeSecret)) {
    options_.target.host = "127.0.0.1";
    options_.target.path = "/webhooks/stripe";
    options_.provider = provider_.get();
    options_.connections = 4;
    options_.duration = milliseconds{5'000};
    options_.count = 400;
    options_.answer_timeout = milliseconds{2'000};
    options_.clock = [] { return kNow; };
  }

  void use(const std::string& provider, const std::string& secret) {
    provider_ = provider_with(provider, secret);
    options_.provider = provider_.get();
  }

  LoadReport run_against(FakeGateway::Answering answering) {
    const FakeGateway gateway{std::move(answering)};
    options_.target.port = gateway.port();
    auto report = generate_load(options_);
    connections_made_ = gateway.accepted();
    return report;
  }

  // Answers as a gateway should.
  FakeGateway::Answering rightly() {
    return [this](const InboundRequest& request) -> std::optional<std::string> {
      if (!std::holds_alternative<Verified>(provider_->verify(request, kNow))) {
        return http_answer(401, "{}");
      }
      const auto events = provider_->events(request);
      if (ids_.insert(events.front().event_id).second) return http_answer(200, kAcceptedBody);
      return http_answer(200, kAcceptedBody, "Idempotent-Replayed: true\r\n");
    };
  }

  std::unique_ptr<Provider> provider_;
  LoadOptions options_;
  std::set<std::string> ids_;
  int connections_made_ = 0;
};

TEST_F(LoadGeneratorTest, FindsNothingWrongWithRightAnswersOfEveryProvider) {
  options_.duplicates = 0.2;
  options_.forged = 0.1;
  for (const auto& [provider, secret] :
       {std::pair{"stripe", kStripeSecret}, std::pair{"adyen", kAdyenKey},
        std::pair{"standard-webhooks", kStandardSecret}}) {
    use(provider, secret);
    ids_.clear();
    const auto report = run_against(rightly());
    EXPECT_EQ(report.sent, 400U) << provider;
    EXPECT_EQ(report.answered, 400U) << provider;
    EXPECT_EQ(report.wrong, 0U) << provider;
    EXPECT_EQ(report.accepted, report.fresh) << provider;
    EXPECT_EQ(report.accepted, ids_.size()) << provider;
    EXPECT_EQ(report.duplicate, report.redelivered) << provider;
    EXPECT_EQ(report.rejected, report.forged) << provider;
    EXPECT_GT(report.duplicate, 20U) << provider;
    EXPECT_GT(report.forged, 5U) << provider;
    EXPECT_EQ(report.latency.count(), 400U) << provider;
  }
}

TEST_F(LoadGeneratorTest, NeverUsesAnIdOfAnEarlierRun) {
  options_.duplicates = 0;
  EXPECT_EQ(run_against(rightly()).accepted, 400U);
  EXPECT_EQ(run_against(rightly()).accepted, 400U);
  EXPECT_EQ(ids_.size(), 800U);
}

TEST_F(LoadGeneratorTest, PadsTheBodyToTheSizeAskedFor) {
  options_.count = 1;
  options_.body_bytes = 5'000;
  std::atomic<std::size_t> bytes = 0;
  run_against([&](const InboundRequest& request) {
    bytes = request.body.size();
    return http_answer(200, kAcceptedBody);
  });
  EXPECT_EQ(bytes, 5'000U);
}

TEST_F(LoadGeneratorTest, CountsARedeliveryThatIsAcceptedAsNewAsWrong) {
  options_.duplicates = 0.5;
  const auto report =
      run_against([](const InboundRequest&) { return http_answer(200, kAcceptedBody); });
  EXPECT_GT(report.redelivered, 100U);
  EXPECT_EQ(report.wrong, report.redelivered);
  EXPECT_EQ(report.accepted, 400U);
  EXPECT_THAT(report.errors, Contains(HasSubstr("expected 200 duplicate, got 200")));
}

TEST_F(LoadGeneratorTest, CountsAnAcceptedForgeryAsWrong) {
  options_.duplicates = 0;
  options_.forged = 0.25;
  const auto report =
      run_against([](const InboundRequest&) { return http_answer(200, kAcceptedBody); });
  EXPECT_GT(report.forged, 40U);
  EXPECT_EQ(report.wrong, report.forged);
}

TEST_F(LoadGeneratorTest, CountsAnyOtherRefusalOfAForgeryAsWrong) {
  options_.duplicates = 0;
  options_.forged = 1;
  options_.count = 20;
  const auto report = run_against([](const InboundRequest&) { return http_answer(400, "{}"); });
  EXPECT_EQ(report.rejected, 20U);
  EXPECT_EQ(report.wrong, 20U);
}

TEST_F(LoadGeneratorTest, CountsAFreshEventThatIsCalledADuplicateAsWrong) {
  const auto report = run_against([](const InboundRequest&) {
    return http_answer(200, kAcceptedBody, "idempotent-replayed: true\r\n");
  });
  EXPECT_EQ(report.wrong, 400U);
  EXPECT_EQ(report.duplicate, 400U);
}

TEST_F(LoadGeneratorTest, TellsErrorsConflictsRefusalsAndPatienceApart) {
  const std::map<int, std::string> bodies{
      {500, "{}"}, {503, "{}"}, {429, "{}"}, {401, "{}"}, {200, R"({"status":"conflict"})"}};
  options_.duplicates = 0;
  options_.count = 20;
  std::map<int, LoadReport> reports;
  for (const auto& entry : bodies) {
    reports[entry.first] =
        run_against([&](const InboundRequest&) { return http_answer(entry.first, entry.second); });
  }
  EXPECT_EQ(reports[500].broken, 20U);
  EXPECT_EQ(reports[500].wrong, 20U);
  EXPECT_EQ(reports[503].limited, 20U);
  EXPECT_EQ(reports[503].wrong, 0U);
  EXPECT_EQ(reports[429].limited, 20U);
  EXPECT_EQ(reports[401].rejected, 20U);
  EXPECT_EQ(reports[401].wrong, 20U);
  EXPECT_EQ(reports[200].conflict, 20U);
  EXPECT_EQ(reports[200].wrong, 20U);
}

TEST_F(LoadGeneratorTest, EndsInTimeWhenTheServerNeverAnswers) {
  options_.duration = milliseconds{200};
  options_.answer_timeout = milliseconds{300};
  options_.count = 0;
  const auto started = steady_clock::now();
  const auto report = run_against([](const InboundRequest&) { return std::nullopt; });
  EXPECT_LT(steady_clock::now() - started, milliseconds{2'000});
  EXPECT_EQ(report.hung, 4U);
  EXPECT_EQ(report.answered, 0U);
}

TEST_F(LoadGeneratorTest, GoesOnAfterARequestThatHung) {
  options_.connections = 1;
  options_.count = 20;
  options_.answer_timeout = milliseconds{200};
  bool is_first = true;
  const auto report = run_against([&](const InboundRequest&) -> std::optional<std::string> {
    if (std::exchange(is_first, false)) return std::nullopt;
    return http_answer(200, kAcceptedBody);
  });
  EXPECT_EQ(report.hung, 1U);
  EXPECT_EQ(report.answered, 19U);
}

TEST_F(LoadGeneratorTest, CountsRequestsWhoseConnectionEndsAsLostAndGoesOn) {
  options_.duplicates = 0;
  std::atomic<int> requests = 0;
  const auto report = run_against([&](const InboundRequest&) {
    return ++requests % 100 == 7 ? std::string{kClose} : http_answer(200, kAcceptedBody);
  });
  EXPECT_EQ(report.lost, 4U);
  EXPECT_EQ(report.accepted, 396U);
  EXPECT_EQ(report.wrong, 0U);
}

TEST_F(LoadGeneratorTest, ConnectsAgainAfterAnAnswerThatEndsTheConnection) {
  options_.duplicates = 0;
  options_.count = 50;
  const auto report = run_against([](const InboundRequest&) {
    return http_answer(200, kAcceptedBody, "Connection: close\r\n");
  });
  EXPECT_EQ(report.accepted, 50U);
  EXPECT_EQ(report.lost, 0U);
  EXPECT_GE(connections_made_, 50);
}

TEST_F(LoadGeneratorTest, TakesNonsenseForNoAnswer) {
  options_.count = 4;
  for (const auto* nonsense : {"SSH-2.0-something\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
                               "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                               "HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n",
                               "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}and more"}) {
    const auto report = run_against([&](const InboundRequest&) { return std::string{nonsense}; });
    EXPECT_EQ(report.lost, 4U) << nonsense;
    EXPECT_EQ(report.answered, 0U) << nonsense;
  }
}

// One stall must show in every request that was due meanwhile, though only one was on the way.
TEST_F(LoadGeneratorTest, CountsTheWaitFromTheMomentARequestWasDue) {
  options_.connections = 1;
  options_.count = 100;
  options_.rate = 200;
  bool is_first = true;
  const auto report = run_against([&](const InboundRequest&) {
    if (std::exchange(is_first, false)) std::this_thread::sleep_for(milliseconds{300});
    return http_answer(200, kAcceptedBody);
  });
  EXPECT_EQ(report.answered, 100U);
  EXPECT_GE(report.latency.max(), milliseconds{300});
  // 60 were due in the stall; half of those waited for more than 150 ms.
  EXPECT_GE(report.latency.percentile(80), milliseconds{100});
  EXPECT_GE(report.elapsed.count(), 0.49);
}

TEST_F(LoadGeneratorTest, CountsWhatCouldNotBeSentInTime) {
  options_.connections = 1;
  options_.count = 0;
  options_.rate = 100;
  options_.duration = milliseconds{300};
  options_.answer_timeout = milliseconds{300};
  const auto report = run_against([](const InboundRequest&) { return std::nullopt; });
  EXPECT_GE(report.hung, 1U);
  EXPECT_GE(report.unsent, 25U);
  EXPECT_EQ(report.hung + report.unsent, 30U);
}

TEST_F(LoadGeneratorTest, SendsOverAUnixSocket) {
  const auto path = (folder() / "socket").string();
  const FakeGateway gateway{rightly(), path};
  options_.target.unix_path = path;
  EXPECT_EQ(generate_load(options_).wrong, 0U);
  EXPECT_TRUE(options_.target.is_loopback());
}

TEST_F(LoadGeneratorTest, SaysThatNobodyListens) {
  {
    const FakeGateway gateway{rightly()};
    options_.target.port = gateway.port();
  }
  EXPECT_THROW(generate_load(options_), LoadTargetUnreachable);
}

TEST_F(LoadGeneratorTest, EndsAtAStopRequest) {
  options_.count = 0;
  options_.duration = std::chrono::minutes{5};
  std::stop_source stop;
  options_.on_progress = [&](std::uint64_t, double) { stop.request_stop(); };
  const FakeGateway gateway{rightly()};
  options_.target.port = gateway.port();
  const auto report = generate_load(options_, stop.get_token());
  EXPECT_GT(report.answered, 0U);
  EXPECT_EQ(report.hung, 0U);
}

TEST_F(LoadGeneratorTest, RefusesFiguresOutOfRange) {
  const auto refuses = [this](auto change) {
    auto options = options_;
    change(options);
    EXPECT_THROW(generate_load(options), LoadError);
  };
  refuses([](LoadOptions& options) { options.connections = 0; });
  refuses([](LoadOptions& options) { options.connections = kLoadConnectionsMax + 1; });
  refuses([](LoadOptions& options) { options.rate = -1; });
  refuses([](LoadOptions& options) { options.duration = milliseconds{0}; });
  refuses([](LoadOptions& options) { options.duplicates = 0.7, options.forged = 0.7; });
  refuses([](LoadOptions& options) { options.provider = nullptr; });
}

}  // namespace
}  // namespace hookgate
