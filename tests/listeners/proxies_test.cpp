#include <algorithm>
#include <chrono>
#include <tuple>

#include "framing_cases.h"
#include "listener_support.h"
#include "proxy_process.h"
#include "raw_socket.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;

constexpr auto kProxyAddress = "127.0.0.1";

// Parameters: the kind of listener, the proxy in front of it.
class ProxiesTest : public ListenerFixture,
                    public ::testing::WithParamInterface<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override {
    if (!ProxyProcess::is_installed(proxy_name()))
      GTEST_SKIP() << proxy_name() << " is not installed; scripts/install test does it";
    ListenerFixture::SetUp();
  }
  void TearDown() override {
    proxy_.reset();
    ListenerFixture::TearDown();
  }
  std::string kind() const override { return std::get<0>(GetParam()); }
  static std::string proxy_name() { return std::get<1>(GetParam()); }

  void start_both(ListenerSettings settings = {}) {
    receiver_settings_.trusted_proxies = {*IpNetwork::parse(kProxyAddress)};
    settings.trusted_proxies = receiver_settings_.trusted_proxies;
    start(std::move(settings));
    proxy_ = std::make_unique<ProxyProcess>(proxy_name(), address());
  }
  const std::string& proxy() const { return proxy_->address(); }

  // The status of one signed request through the proxy, from that client.
  int status_for(const std::string& event_id, const std::string& client,
                 const std::vector<std::string>& lines = {}) {
    RequestText request{event_id};
    for (const auto& line : lines) request.add(line);
    RawSocket socket{proxy(), {.local_address = client}};
    socket.send(request.bytes());
    const auto answers = socket.read_answers(1);
    return answers.empty() ? 0 : answers.front().status;
  }

  void attack(const FramingCase& row);

 private:
  std::unique_ptr<ProxyProcess> proxy_;
};

// Whether one of the answers tells of that event.
bool tell(const std::vector<RawAnswer>& answers, const std::string& event_id) {
  return std::ranges::any_of(answers, [&](const RawAnswer& answer) {
    return answer.status == 200 && answer.body.find("\"" + event_id + "\"") != std::string::npos;
  });
}

// A proxy may set right what the gateway would refuse, and pass the second request on as the
// second request that it then is: the client gets an answer to it. What must not be is a request
// that the proxy has not seen: run without an answer, or its answer given to somebody else.
void ProxiesTest::attack(const FramingCase& row) {
  RawSocket socket{proxy()};
  socket.send(row.first + row.second +
              "GET /healthz HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n\r\n");
  const auto answers = socket.read_answers(3, milliseconds{250});
  const auto innocent = row.second_event + "_innocent";
  RawSocket other{proxy()};
  other.send(RequestText{innocent}.bytes());
  EXPECT_TRUE(tell(other.read_answers(1), innocent)) << "somebody else's answer";
  for (const auto& event : {row.first_event, row.second_event}) {
    EXPECT_EQ(is_stored(event), tell(answers, event))
        << event << " was answered with " << testing::PrintToString(statuses_of(answers));
  }
}

TEST_P(ProxiesTest, HideNoRequestInAnother) {
  start_both();
  for (const auto& group : framing_groups()) {
    for (const auto& row : framing_cases(group, "proxied", kBodyBytesMax)) {
      // Where an answer to HEAD ends, only the proxy knows.
      if (row.ends_sending || row.first.starts_with("HEAD")) continue;
      SCOPED_TRACE(row.group + ": " + row.name);
      attack(row);
    }
  }
}

TEST_P(ProxiesTest, PassGoodRequestsOn) {
  start_both();
  RawSocket socket{proxy()};
  for (int i = 0; i < 20; ++i) {
    RequestText request{"evt_" + std::to_string(i), static_cast<std::size_t>(300 * i)};
    if (i % 2 == 1) request.chunked(in_chunks(request.body, 100));
    socket.send(request.bytes());
    ASSERT_EQ(statuses_of(socket.read_answers(1)), std::vector{200}) << i;
  }
}

TEST_P(ProxiesTest, TellWhoTheClientIs) {
  allowed_clients_ = {*IpNetwork::parse("127.0.0.9")};
  start_both();
  EXPECT_EQ(status_for("evt_1", "127.0.0.9"), 200);
  EXPECT_EQ(status_for("evt_2", "127.0.0.8"), 403);
  EXPECT_EQ(status_for("evt_3", "127.0.0.8", {"X-Forwarded-For: 127.0.0.9"}), 403);
  EXPECT_EQ(status_for("evt_4", "127.0.0.9", {"X-Forwarded-For: 127.0.0.8"}), 200);
  RawSocket direct{address(), {.local_address = "127.0.0.8"}};
  direct.send(RequestText{"evt_5"}.add("X-Forwarded-For: 127.0.0.9").bytes());
  EXPECT_EQ(statuses_of(direct.read_answers(1)), std::vector{403});
}

TEST_P(ProxiesTest, KeepSlowBodiesFromTheGateway) {
  ListenerSettings settings;
  settings.connections_max = 4;
  start_both(settings);
  std::vector<RawSocket> slow;
  for (int i = 0; i < 16; ++i) {
    const auto bytes = RequestText{"evt_slow_" + std::to_string(i)}.bytes();
    slow.emplace_back(proxy());
    slow.back().send(std::string_view{bytes}.substr(0, bytes.size() - 10));
  }
  EXPECT_EQ(status_for("evt_proxied", "127.0.0.1"), 200);
  RawSocket direct{address()};
  direct.send(RequestText{"evt_direct"}.bytes());
  EXPECT_EQ(statuses_of(direct.read_answers(1, milliseconds{2'000})), std::vector{200});
}

using ProxyParameter = std::tuple<std::string, std::string>;

std::string proxy_test_name(const testing::TestParamInfo<ProxyParameter>& parameter) {
  return std::get<0>(parameter.param) + "_" + std::get<1>(parameter.param);
}

INSTANTIATE_TEST_SUITE_P(Listener, ProxiesTest,
                         testing::Combine(testing::Values(kReactor, kHttplib),
                                          testing::Values(kNginx, kHaproxy)),
                         proxy_test_name);

}  // namespace
}  // namespace hookgate
