#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "config.h"
#include "gateway_support.h"

namespace hookgate {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

template <typename Address>
int connect_to(int family, const Address& address) {
  const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  EXPECT_EQ(::connect(socket, generic, sizeof address), 0);
  return socket;
}

int connect_to(const std::filesystem::path& unix_socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  unix_socket.string().copy(address.sun_path, sizeof address.sun_path - 1);
  return connect_to(AF_UNIX, address);
}

int connect_to(int loopback_port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(loopback_port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect_to(AF_INET, address);
}

// Sends these bytes and reads the start of the answer; closes the socket. 0: no answer in 5 s.
int status_from(int socket, const std::string& bytes) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  EXPECT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  std::string line(kVersion.size() + 3, '\0');
  const auto count = ::recv(socket, line.data(), line.size(), MSG_WAITALL);
  ::close(socket);
  if (count != static_cast<ssize_t>(line.size()) || !line.starts_with(kVersion)) return 0;
  return std::stoi(line.substr(kVersion.size()));
}

std::string whole(const InboundRequest& request) {
  auto bytes = request.method + " " + request.target + " HTTP/1.1\r\nHost: gateway.test\r\n";
  for (const auto& header : request.headers) bytes += header.name + ": " + header.value + "\r\n";
  return bytes + "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" +
         request.body;
}

// The tests' own peer is always 127.0.0.1; what else it claims to be is in X-Forwarded-For.
class AddressesTest : public GatewayTest {
 protected:
  // A gateway with the source "stripe", with `source` keys of it and `server` keys.
  std::string start(const std::string& source, const std::string& server = "") {
    return start_gateway(config(source, server));
  }
  std::string config(const std::string& source, const std::string& server = "") {
    auto text =
        test_config(database().url(), 0, source_block("stripe", "stripe", {kStripeSecret}, source));
    const std::string section = "[server]\n";
    return text.insert(text.find(section) + section.size(), server);
  }
  InboundRequest event(const std::string& id, const std::string& forwarded_for = "") {
    auto request = signed_request(
        *stripe_, "stripe",
        stripe_event(id, "charge.expired", R"({"id":"ch_1","object":"charge"})"), system_now());
    if (!forwarded_for.empty()) request.headers.push_back({"X-Forwarded-For", forwarded_for});
    return request;
  }
  InboundRequest forged(const std::string& id) {
    auto request = event(id);
    request.body += ' ';
    return request;
  }
  std::int64_t stored() { return database().count("hookgate.events"); }

 private:
  std::unique_ptr<Provider> stripe_ = test_provider("stripe", kStripeSecret);
};

constexpr auto kTrustLoopback = "trusted_proxies = [\"127.0.0.0/8\"]\n";

TEST_F(AddressesTest, AllowThemselvesOnly) {
  const auto address = start("allow = [\"198.51.100.0/24\"]\n");
  const auto answer = send(address, event("evt_1"));
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.header("Content-Type"), HasSubstr("application/problem+json"));
  EXPECT_THAT(answer.body, HasSubstr("address not allowed"));
  EXPECT_EQ(stored(), 0);
}

TEST_F(AddressesTest, AreThePeersWithoutATrustedProxy) {
  const auto address = start("allow = [\"127.0.0.1\"]\n");
  EXPECT_EQ(send(address, event("evt_1")).status, 200);
  EXPECT_EQ(send(address, event("evt_2", "203.0.113.7")).status, 200);
}

TEST_F(AddressesTest, AreNotBelievedOfAStranger) {
  const auto address =
      start("allow = [\"198.51.100.0/24\"]\n", "trusted_proxies = [\"10.0.0.0/8\"]\n");
  EXPECT_EQ(send(address, event("evt_1", "198.51.100.1")).status, 403);
  EXPECT_EQ(send(address, event("evt_1", "198.51.100.1, 10.0.0.1")).status, 403);
}

TEST_F(AddressesTest, AreBelievedOfATrustedProxy) {
  const auto address = start("allow = [\"198.51.100.0/24\"]\n", kTrustLoopback);
  EXPECT_EQ(send(address, event("evt_1", "198.51.100.1")).status, 200);
  EXPECT_EQ(send(address, event("evt_2", "198.51.100.1:4711, 127.0.0.2")).status, 200);
  EXPECT_EQ(send(address, event("evt_3", "203.0.113.7")).status, 403);
  EXPECT_EQ(send(address, event("evt_3")).status, 403);
}

TEST_F(AddressesTest, AreNotTakenFromWhatTheClientWroteBeforeTheProxy) {
  const auto address = start("allow = [\"198.51.100.0/24\"]\n", kTrustLoopback);
  EXPECT_EQ(send(address, event("evt_1", "198.51.100.1, 203.0.113.7")).status, 403);
  EXPECT_EQ(send(address, event("evt_1", "198.51.100.1, unknown")).status, 403);
  auto two_headers = event("evt_1", "198.51.100.1");
  two_headers.headers.push_back({"X-Forwarded-For", "203.0.113.7"});
  EXPECT_EQ(send(address, two_headers).status, 403);
}

TEST_F(AddressesTest, AreJudgedBeforeTheSignature) {
  const auto address = start("allow = [\"198.51.100.0/24\"]\n");
  auto unsigned_event = event("evt_1");
  unsigned_event.headers.clear();
  EXPECT_EQ(send(address, unsigned_event).status, 403);
}

TEST_F(AddressesTest, ThatAreAllowedChangeWithAReload) {
  const auto address = start("allow = [\"198.51.100.0/24\"]\n");
  EXPECT_EQ(send(address, event("evt_1")).status, 403);
  ASSERT_TRUE(app().reload(parse_config(config("allow = [\"127.0.0.1\"]\n"), "test.toml")));
  EXPECT_EQ(send(address, event("evt_1")).status, 200);
}

class UnixSocketTest : public AddressesTest {
 protected:
  void TearDown() override {
    AddressesTest::TearDown();
    std::filesystem::remove(path_);
  }
  std::string start_on_socket(const std::string& server) {
    auto text = config("allow = [\"198.51.100.0/24\"]\n", server);
    const std::string listen = "\"127.0.0.1:0\"";
    text.replace(text.find(listen), listen.size(), "\"unix:" + path_.string() + "\"");
    return start_gateway(text);
  }
  int status_of(const InboundRequest& request) {
    return status_from(connect_to(path_), whole(request));
  }

  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("hookgate-public-" + std::to_string(::getpid()) + ".sock");
};

TEST_F(UnixSocketTest, IsPrintedAsItIsWritten) {
  EXPECT_EQ(start_on_socket(""), "unix:" + path_.string());
}

TEST_F(UnixSocketTest, HasPeersWithoutAnAddressUnlessItIsTrusted) {
  start_on_socket("");
  EXPECT_EQ(status_of(event("evt_1", "198.51.100.1")), 403);
  stop_gateways();
  start_on_socket("trusted_proxies = [\"unix:\"]\n");
  EXPECT_EQ(status_of(event("evt_1", "198.51.100.1")), 200);
  EXPECT_EQ(status_of(event("evt_2", "203.0.113.7")), 403);
  EXPECT_EQ(status_of(event("evt_2")), 403);
}

using RateLimitTest = AddressesTest;

TEST_F(RateLimitTest, IsToldWithRetryAfterAndIsOverByThen) {
  const auto address = start("rate_limit = 0.5\n");
  EXPECT_EQ(send(address, event("evt_1")).status, 200);
  const auto refused = send(address, event("evt_2"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.header("Content-Type"), HasSubstr("application/problem+json"));
  ASSERT_THAT(refused.header("Retry-After"), AnyOf("1", "2"));
  EXPECT_EQ(stored(), 1);
  std::this_thread::sleep_for(std::chrono::seconds{std::stoi(refused.header("Retry-After"))});
  EXPECT_EQ(send(address, event("evt_2")).status, 200);
  EXPECT_EQ(stored(), 2);
}

TEST_F(RateLimitTest, IsNotUsedUpByForgedEvents) {
  const auto address = start("rate_limit = 0.001\n");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(send(address, forged("evt_1")).status, 401);
  EXPECT_EQ(send(address, event("evt_1")).status, 200);
  EXPECT_EQ(send(address, event("evt_2")).status, 429);
}

TEST_F(RateLimitTest, IsNotRefilledByAReload) {
  const auto address = start("rate_limit = 0.001\n");
  EXPECT_EQ(send(address, event("evt_1")).status, 200);
  ASSERT_TRUE(app().reload(parse_config(config("rate_limit = 0.001\n"), "test.toml")));
  EXPECT_EQ(send(address, event("evt_2")).status, 429);
}

using HeadTest = AddressesTest;

// The gateway answers a head that cannot hold before the body is there, and reads none of it.
TEST_F(HeadTest, WithoutASignatureIsRefusedBeforeTheBody) {
  const auto address = start("");
  const auto colon = address.rfind(':');
  EXPECT_EQ(status_from(connect_to(std::stoi(address.substr(colon + 1))),
                        "POST /webhooks/stripe HTTP/1.1\r\nHost: gateway.test\r\n"
                        "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"),
            401);
  EXPECT_EQ(stored(), 0);
}

}  // namespace
}  // namespace hookgate
