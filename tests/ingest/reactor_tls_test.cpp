#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <unistd.h>

#include "ingest/listener.h"
#include "listener_test_support.h"

namespace hookgate {
namespace {

// A TLS client's end, which trusts anybody.
class TlsClient {
 public:
  TlsClient(const std::string& address, int version) : socket_(address) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), socket_.descriptor());
    connected_ = SSL_connect(session_.get()) == 1;
  }
  bool is_connected() const { return connected_; }
  std::string server_name() const {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate{
        SSL_get1_peer_certificate(session_.get()), X509_free};
    std::array<char, 256> name{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(),
                              static_cast<int>(name.size()));
    return name.data();
  }
  bool probe() {
    SSL_write(session_.get(), kProbe.data(), static_cast<int>(kProbe.size()));
    std::string answer;
    std::array<char, 4096> buffer{};
    while (answer.find(kProbeAnswerEnd) == std::string::npos) {
      const int count = SSL_read(session_.get(), buffer.data(), static_cast<int>(buffer.size()));
      if (count <= 0) return false;
      answer.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return true;
  }

 private:
  TestSocket socket_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> session_{nullptr, SSL_free};
  bool connected_ = false;
};

class ReactorTlsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);  // the client's library writes to closed sockets
    folder_ = testing::TempDir() + "hookgate-tls-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    write_certificate(certificate(), key(), "first");
    ListenerSettings settings;
    settings.host = "127.0.0.1";
    settings.head_timeout = std::chrono::milliseconds{500};
    settings.shutdown_grace = std::chrono::milliseconds{500};
    settings.tls_certificate = certificate();
    settings.tls_key = key();
    listener_ = make_reactor_listener(settings, probes_.receiver());
    listener_->start();
  }
  void TearDown() override {
    listener_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string certificate() const { return folder_ + "/certificate.pem"; }
  std::string key() const { return folder_ + "/key.pem"; }
  std::string address() const { return listener_->address(); }
  Listener& listener() { return *listener_; }

 private:
  std::string folder_;
  ProbesOnly probes_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(ReactorTlsTest, SpeaksTls12And13AndNothingOlder) {
  EXPECT_TRUE((TlsClient{address(), TLS1_2_VERSION}.probe()));
  EXPECT_TRUE((TlsClient{address(), TLS1_3_VERSION}.probe()));
  EXPECT_FALSE((TlsClient{address(), TLS1_1_VERSION}.is_connected()));
}

TEST_F(ReactorTlsTest, AnswersManyRequestsOnOneConnection) {
  TlsClient client{address(), TLS1_3_VERSION};
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(client.probe()) << i;
}

TEST_F(ReactorTlsTest, ClosesOnWhoeverSpeaksPlainHttpOrNothing) {
  TestSocket plain{address()};
  plain.send(kProbe);
  bool closed = false;
  EXPECT_EQ(plain.read_all(closed).find("HTTP/1.1"), std::string::npos);
  EXPECT_TRUE(closed);
  TestSocket silent{address()};
  silent.read_all(closed, 3'000);
  EXPECT_TRUE(closed);
  EXPECT_TRUE((TlsClient{address(), TLS1_3_VERSION}.probe()));
}

TEST_F(ReactorTlsTest, UsesARenewedCertificateForNewConnections) {
  TlsClient before{address(), TLS1_3_VERSION};
  EXPECT_EQ(before.server_name(), "first");
  write_certificate(certificate(), key(), "second");
  listener().reload_tls();
  TlsClient after{address(), TLS1_3_VERSION};
  EXPECT_EQ(after.server_name(), "second");
  EXPECT_TRUE(after.probe());
  EXPECT_TRUE(before.probe());
}

TEST_F(ReactorTlsTest, KeepsItsCertificateWhenTheNewOneCannotBeUsed) {
  write_certificate(certificate(), key() + ".other", "second");
  try {
    listener().reload_tls();
    FAIL() << "a certificate without its key was taken";
  } catch (const ListenError& error) {
    EXPECT_NE(std::string{error.what()}.find(key()), std::string::npos) << error.what();
  }
  std::ofstream{certificate()} << "nothing";
  EXPECT_THROW(listener().reload_tls(), ListenError);
  TlsClient client{address(), TLS1_3_VERSION};
  EXPECT_EQ(client.server_name(), "first");
}

}  // namespace
}  // namespace hookgate
