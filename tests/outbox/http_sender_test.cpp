#include "outbox/http_sender.h"

#include <csignal>
#include <filesystem>
#include <future>

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv is POSIX's, not C++'s
#include <sys/socket.h>
#include <unistd.h>

#include "providers/registry.h"
#include "raw_server.h"
#include "receiver.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;
using Kind = SendResult::Kind;

// Invented: base64 of "invented-for-tests-only-0001".
constexpr auto kSecret = "whsec_aW52ZW50ZWQtZm9yLXRlc3RzLW9ubHktMDAwMQ==";

std::unique_ptr<Provider> signer() {
  ProviderSettings settings;
  settings.secrets.emplace_back(kSecret);
  return make_provider("standard-webhooks", settings);
}

OutgoingMessage a_message() {
  OutgoingMessage message;
  message.idempotency_key = "crm-7-1767225600000000";
  message.content_type = "application/json; charset=utf-8";
  message.event_type = "charge.succeeded";
  message.event = 7;
  message.item = 2;
  message.body = std::string{"{\"a\": 1}\n\0\xFF", 11};
  return message;
}

class HttpSenderTest : public ::testing::Test {
 protected:
  HttpSender& sender_to(const std::string& url) {
    settings_.url = std::get<HttpUrl>(parse_http_url(url));
    sender_ = std::make_unique<HttpSender>(settings_, signer(), [this] { return now_; });
    return *sender_;
  }
  HttpSender& sender_to(int port) {
    return sender_to("http://127.0.0.1:" + std::to_string(port) + "/hooks");
  }

  HttpSenderSettings settings_{};
  SystemTime now_ = *parse_instant("2026-01-01T00:00:00Z");

 private:
  std::unique_ptr<HttpSender> sender_;
};

TEST_F(HttpSenderTest, SendsTheBodyAsItIsAndSignsItForAnyStandardWebhooksReceiver) {
  Receiver receiver;
  auto& sender = sender_to(receiver.url("/hooks?to=a%2Fb"));
  EXPECT_EQ(sender.send(a_message(), {}).kind, Kind::kDelivered);
  const auto request = receiver.requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/hooks?to=a%2Fb");
  EXPECT_EQ(request.body, a_message().body);
  EXPECT_TRUE(std::holds_alternative<Verified>(signer()->verify(request, now_)));
  EXPECT_EQ(header_of(request, "Idempotency-Key"), "crm-7-1767225600000000");
  EXPECT_EQ(header_of(request, "webhook-id"), "crm-7-1767225600000000");
  EXPECT_EQ(header_of(request, "webhook-timestamp"), "1767225600");
  EXPECT_EQ(header_of(request, "Content-Type"), "application/json; charset=utf-8");
  EXPECT_EQ(header_of(request, "Hookgate-Event-Type"), "charge.succeeded");
  EXPECT_EQ(header_of(request, "Hookgate-Item"), "2");
  EXPECT_EQ(header_of(request, "Host"), "127.0.0.1:" + std::to_string(receiver.port()));
}

TEST_F(HttpSenderTest, SignsEveryTryWithItsOwnTimeUnderTheSameKey) {
  Receiver receiver;
  auto& sender = sender_to(receiver.port());
  sender.send(a_message(), {});
  now_ += seconds{61};
  sender.send(a_message(), {});
  const auto requests = receiver.requests();
  EXPECT_EQ(header_of(requests.at(0), "webhook-id"), header_of(requests.at(1), "webhook-id"));
  EXPECT_EQ(header_of(requests.at(1), "webhook-timestamp"), "1767225661");
  EXPECT_TRUE(std::holds_alternative<Verified>(signer()->verify(requests.at(1), now_)));
}

TEST_F(HttpSenderTest, LeavesOutHeadersThatOutsideTextWouldBreak) {
  Receiver receiver;
  auto message = a_message();
  message.content_type = "text/plain\r\nX-Forged: 1";
  message.event_type = "a\nb";
  sender_to(receiver.port()).send(message, {});
  const auto request = receiver.requests().at(0);
  EXPECT_EQ(header_of(request, "Content-Type"), "application/json");
  EXPECT_EQ(request.header_count("Hookgate-Event-Type"), 0U);
  EXPECT_EQ(request.header_count("X-Forged"), 0U);
}

TEST_F(HttpSenderTest, FailsWithTheStatusAndTheBeginningOfTheBody) {
  Receiver receiver{[](auto&, auto) { return Answer{500, "text/plain", "out of paper", {}}; }};
  const auto result = sender_to(receiver.port()).send(a_message(), {});
  EXPECT_EQ(result.kind, Kind::kFailed);
  EXPECT_EQ(result.reason, "HTTP 500: out of paper");
}

TEST_F(HttpSenderTest, DoesNotFollowARedirect) {
  Receiver elsewhere;
  Receiver receiver{[&](auto&, auto) {
    return Answer{307, "text/plain", "", {{"Location", elsewhere.url()}}};
  }};
  const auto result = sender_to(receiver.port()).send(a_message(), {});
  EXPECT_EQ(result.kind, Kind::kFailed);
  EXPECT_EQ(result.reason, "HTTP 307, a redirect, which is not followed: " + elsewhere.url());
  EXPECT_EQ(elsewhere.requests().size(), 0U);
}

TEST_F(HttpSenderTest, TakesRetryAfterFromABusyReceiverOnly) {
  int status = 503;
  Receiver receiver{[&](auto&, auto) {
    return Answer{status, "text/plain", "", {{"Retry-After", "90"}}};
  }};
  auto& sender = sender_to(receiver.port());
  EXPECT_EQ(sender.send(a_message(), {}).retry_after, seconds{90});
  status = 429;
  EXPECT_EQ(sender.send(a_message(), {}).retry_after, seconds{90});
  status = 500;
  EXPECT_EQ(sender.send(a_message(), {}).retry_after, std::nullopt);
}

TEST_F(HttpSenderTest, KeepsItsConnection) {
  RawServer server{[](int socket) {
    while (!read_request(socket).empty() && write_all(socket, "HTTP/1.1 204 No Content\r\n\r\n")) {
    }
  }};
  auto& sender = sender_to(server.port());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sender.send(a_message(), {}).kind, Kind::kDelivered);
  EXPECT_EQ(server.connections(), 1);
}

// The receiver closes the kept connection as soon as something comes over it.
TEST_F(HttpSenderTest, TriesANewConnectionWhenTheKeptOneEndsUnderIt) {
  RawServer server{[](int socket) {
    read_request(socket);
    write_all(socket, "HTTP/1.1 204 No Content\r\n\r\n");
    char byte = 0;
    ::recv(socket, &byte, 1, 0);
  }};
  auto& sender = sender_to(server.port());
  EXPECT_EQ(sender.send(a_message(), {}).kind, Kind::kDelivered);
  const auto second = sender.send(a_message(), {});
  EXPECT_EQ(second.kind, Kind::kDelivered) << second.reason;
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(HttpSenderTest, CutsASilentReceiverAtTheTimeLimit) {
  RawServer server{[](int socket) {
    while (!read_request(socket).empty()) {
    }
  }};
  settings_.timeout = milliseconds{400};
  const auto began = SteadyClock::now();
  const auto result = sender_to(server.port()).send(a_message(), {});
  EXPECT_EQ(result.kind, Kind::kFailed);
  EXPECT_EQ(result.reason, "no answer in time");
  EXPECT_LT(SteadyClock::now() - began, seconds{3});
}

// Every single read is quick; the client's own limits never end this.
TEST_F(HttpSenderTest, CutsAReceiverThatDribblesItsHead) {
  RawServer server{[](int socket) {
    read_request(socket);
    bool is_there = write_all(socket, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; is_there && i < 1'000; ++i) {
      is_there = write_all(socket, "X-" + std::to_string(i) + ": 1\r\n");
      std::this_thread::sleep_for(milliseconds{20});
    }
  }};
  settings_.timeout = milliseconds{600};
  const auto began = SteadyClock::now();
  const auto result = sender_to(server.port()).send(a_message(), {});
  EXPECT_EQ(result.reason, "no answer in time");
  EXPECT_LT(SteadyClock::now() - began, seconds{5});
}

TEST_F(HttpSenderTest, BelievesTheStatusOfAnAnswerWhoseBodyNeverEnds) {
  RawServer server{[](int socket) {
    read_request(socket);
    bool is_there = write_all(socket, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n");
    const std::string block(4096, 'x');
    while (is_there) is_there = write_all(socket, block);
  }};
  const auto began = SteadyClock::now();
  EXPECT_EQ(sender_to(server.port()).send(a_message(), {}).kind, Kind::kDelivered);
  EXPECT_LT(SteadyClock::now() - began, seconds{5});
}

TEST_F(HttpSenderTest, CutsAReceiverWhoseHeadNeverEnds) {
  RawServer server{[](int socket) {
    read_request(socket);
    bool is_there = write_all(socket, "HTTP/1.1 200 OK\r\n");
    while (is_there) is_there = write_all(socket, "X-Filler: " + std::string(4000, 'x') + "\r\n");
  }};
  const auto result = sender_to(server.port()).send(a_message(), {});
  EXPECT_EQ(result.kind, Kind::kFailed);
  EXPECT_EQ(result.reason, "the head of the answer is too long");
}

TEST_F(HttpSenderTest, EndsSoonWhenItIsToldTo) {
  std::promise<void> arrived;
  RawServer server{[&](int socket) {
    read_request(socket);
    arrived.set_value();
    read_request(socket);
  }};
  auto& sender = sender_to(server.port());
  std::stop_source abort;
  auto sending =
      std::async(std::launch::async, [&] { return sender.send(a_message(), abort.get_token()); });
  arrived.get_future().wait();
  abort.request_stop();
  ASSERT_EQ(sending.wait_for(seconds{5}), std::future_status::ready);
  EXPECT_EQ(sending.get().kind, Kind::kAborted);
}

TEST_F(HttpSenderTest, SaysThatNobodyListens) {
  int port = 0;
  {
    port = RawServer{[](int) {}}.port();
  }
  const auto result = sender_to(port).send(a_message(), {});
  EXPECT_EQ(result.kind, Kind::kFailed);
  EXPECT_EQ(result.reason, "connection refused or not possible");
}

TEST_F(HttpSenderTest, RefusesPrivateAddressesWhereToldTo) {
  Receiver receiver;
  settings_.refuse_private_addresses = true;
  const auto port = std::to_string(receiver.port());
  for (const auto& host : {"localhost", "127.0.0.1", "[::ffff:127.0.0.1]"}) {
    const auto result =
        sender_to(std::string{"http://"} + host + ":" + port + "/").send(a_message(), {});
    EXPECT_EQ(result.reason, "the name leads to a private address, which is refused") << host;
  }
  EXPECT_EQ(receiver.requests().size(), 0U);
}

TEST_F(HttpSenderTest, FindsAReceiverByItsName) {
  Receiver receiver;
  auto& sender = sender_to("http://localhost:" + std::to_string(receiver.port()) + "/");
  const auto result = sender.send(a_message(), {});
  EXPECT_EQ(result.kind, Kind::kDelivered) << result.reason;
}

TEST_F(HttpSenderTest, SaysThatANameIsNotFound) {
  const auto result = sender_to("http://nobody.invalid/").send(a_message(), {});
  EXPECT_EQ(result.kind, Kind::kFailed);
  EXPECT_TRUE(result.reason.starts_with("name not found") ||
              result.reason == "look-up of the name took too long")
      << result.reason;
}

class HttpSenderTlsTest : public HttpSenderTest {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);  // as the gateway does: the library writes to closed sockets
    folder_ = testing::TempDir() + "hookgate-outbox-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    write_certificate_for("DNS:localhost", certificate_ = folder_ + "/certificate.pem",
                          key_ = folder_ + "/key.pem");
    receiver_ = std::make_unique<Receiver>(
        [](auto&, auto) {
          return Answer{204, "", "", {}};
        },
        certificate_, key_);
  }
  void TearDown() override {
    receiver_.reset();
    unsetenv("SSL_CERT_FILE");
    std::filesystem::remove_all(folder_);
  }
  void trust() { setenv("SSL_CERT_FILE", certificate_.c_str(), 1); }
  SendResult send_to(const std::string& host) {
    return sender_to("https://" + host + ":" + std::to_string(receiver_->port()) + "/")
        .send(a_message(), {});
  }

  std::string folder_, certificate_, key_;
  std::unique_ptr<Receiver> receiver_;
};

TEST_F(HttpSenderTlsTest, SendsToAHostWhoseCertificateTheSystemTrusts) {
  trust();
  const auto result = send_to("localhost");
  EXPECT_EQ(result.kind, Kind::kDelivered) << result.reason;
  EXPECT_EQ(receiver_->requests().at(0).body, a_message().body);
}

TEST_F(HttpSenderTlsTest, SendsNothingToAHostWhoseCertificateNobodyVouchesFor) {
  const auto result = send_to("localhost");
  EXPECT_EQ(result.kind, Kind::kFailed);
  EXPECT_EQ(result.reason, "certificate not accepted: self-signed certificate");
  EXPECT_EQ(receiver_->requests().size(), 0U);
}

TEST_F(HttpSenderTlsTest, SendsNothingToAHostWithTheCertificateOfAnother) {
  trust();
  const auto result = send_to("127.0.0.1");
  EXPECT_EQ(result.kind, Kind::kFailed);
  EXPECT_EQ(result.reason, "certificate not accepted: it is not for this host");
  EXPECT_EQ(receiver_->requests().size(), 0U);
}

TEST_F(HttpSenderTlsTest, CutsAHandshakeThatDoesNotGoOn) {
  RawServer server{[](int socket) {
    while (!read_request(socket).empty()) {
    }
  }};
  settings_.timeout = milliseconds{400};
  const auto began = SteadyClock::now();
  const auto result =
      sender_to("https://localhost:" + std::to_string(server.port()) + "/").send(a_message(), {});
  EXPECT_EQ(result.kind, Kind::kFailed);
  EXPECT_LT(SteadyClock::now() - began, seconds{3});
}

}  // namespace
}  // namespace hookgate
