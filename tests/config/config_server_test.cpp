#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "config.h"
#include "config_test_support.h"

namespace hookgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

ServerConfig server_of(const std::string& keys) {
  return parse_config("[server]\n" + keys, "t.toml").server;
}

std::string server_fault_of(const std::string& keys) {
  return fault_of("[server]\n" + keys);
}

std::vector<std::string> texts_of(const std::vector<IpNetwork>& networks) {
  std::vector<std::string> texts;
  for (const auto& network : networks) texts.push_back(network.text());
  return texts;
}

TEST(ConfigListenerTest, IsOneOfTwo) {
  EXPECT_EQ(server_of("listener = \"reactor\"\n").listener, "reactor");
  EXPECT_EQ(server_of("listener = \"httplib\"\n").listener, "httplib");
  EXPECT_EQ(server_fault_of("listener = \"reaktor\"\n"),
            "t.toml:2:12: 'listener' in [server] is \"reaktor\", which is unknown; did you mean "
            "\"reactor\"?");
  EXPECT_EQ(server_fault_of("listener = \"nginx\"\n"),
            "t.toml:2:12: 'listener' in [server] is \"nginx\", which is unknown; write "
            "\"reactor\" or \"httplib\"");
}

TEST(ConfigListenTest, MayBeAUnixSocket) {
  EXPECT_EQ(server_of("listen = \"unix:/run/hookgate.sock\"\n").listen, "unix:/run/hookgate.sock");
}

TEST(ConfigListenTest, NeedsTheWholePathOfAUnixSocket) {
  EXPECT_EQ(server_fault_of("listen = \"unix:run/hookgate.sock\"\n"),
            "t.toml:2:10: 'listen' in [server] must name a socket by its whole path, such as "
            "\"unix:/run/hookgate.sock\", found \"unix:run/hookgate.sock\"");
  for (const auto* path : {"", "/", "/run/", "run"})
    EXPECT_THAT(server_fault_of("listen = \"unix:" + std::string{path} + "\"\n"),
                StartsWith("t.toml:2:10: 'listen' in [server] must name a socket by its"))
        << path;
}

TEST(ConfigListenTest, KnowsHowLongThePathOfAUnixSocketMayBe) {
  EXPECT_EQ(server_fault_of("listen = \"unix:/" + std::string(106, 'a') + "\"\n"), kAccepted);
  EXPECT_EQ(server_fault_of("listen = \"unix:/" + std::string(107, 'a') + "\"\n"),
            "t.toml:2:10: 'listen' in [server] has a path of 108 bytes; that of a Unix socket has "
            "at most 107");
}

TEST(ConfigListenTest, OfAUnixSocketNeedsTheReactor) {
  EXPECT_EQ(server_fault_of("listen = \"unix:/run/a.sock\"\nlistener = \"httplib\"\n"),
            "t.toml:2:10: 'listen' in [server] asks for a Unix socket, which the listener "
            "\"httplib\" has not; write listener = \"reactor\"");
}

TEST(ConfigListenTest, OfTheAdminIsNoUnixSocket) {
  EXPECT_EQ(fault_of("[admin]\nlisten = \"unix:/run/a.sock\"\n"),
            "t.toml:2:10: 'listen' in [admin] must be host:port such as \"127.0.0.1:8080\", found "
            "\"unix:/run/a.sock\"");
}

TEST(ConfigConnectionsTest, MayBeLimitedForEachAddressByTheReactor) {
  EXPECT_EQ(server_of("max_connections_per_address = 20\n").max_connections_per_address, 20U);
  EXPECT_EQ(server_fault_of("max_connections_per_address = -1\n"),
            "t.toml:2:31: 'max_connections_per_address' in [server] must be from 0 to 1000000, "
            "found -1");
  EXPECT_EQ(server_fault_of("listener = \"httplib\"\nmax_connections_per_address = 20\n"),
            "t.toml:3:31: 'max_connections_per_address' in [server] asks for a limit for each "
            "address, which the listener \"httplib\" has not; write listener = \"reactor\"");
  EXPECT_EQ(server_fault_of("listener = \"httplib\"\nmax_connections_per_address = 0\n"),
            kAccepted);
}

TEST(ConfigTrustedProxiesTest, AreBlocksAndAddressesOfBothKinds) {
  const auto server = server_of(
      "trusted_proxies = [\"10.0.0.0/8\", \"192.0.2.1\", \"2001:db8::/32\", \"::ffff:198.51.100.0/"
      "120\"]\n");
  EXPECT_THAT(texts_of(server.trusted_proxies),
              ElementsAre("10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "198.51.100.0/24"));
  EXPECT_FALSE(server.trust_unix_socket);
}

TEST(ConfigTrustedProxiesTest, MayHoldTheUnixSocket) {
  const auto server = server_of("trusted_proxies = [\"unix:\", \"10.0.0.0/8\"]\n");
  EXPECT_TRUE(server.trust_unix_socket);
  EXPECT_THAT(texts_of(server.trusted_proxies), ElementsAre("10.0.0.0/8"));
  EXPECT_EQ(server_fault_of("trusted_proxies = [\"unix:/run/a.sock\"]\n"),
            "t.toml:2:20: 'trusted_proxies' in [server] trusts Unix sockets as a whole, found "
            "\"unix:/run/a.sock\"; write \"unix:\"");
}

TEST(ConfigTrustedProxiesTest, AreAListOfStrings) {
  EXPECT_EQ(server_fault_of("trusted_proxies = \"10.0.0.0/8\"\n"),
            "t.toml:2:19: 'trusted_proxies' in [server] must be a list of strings, found a string; "
            "put it between [ and ]");
  EXPECT_EQ(server_fault_of("trusted_proxies = [10]\n"),
            "t.toml:2:20: 'trusted_proxies' in [server] must be a list of strings, found an "
            "integer in it");
}

TEST(ConfigTrustedProxiesTest, HaveASuggestionForWhatWasMeant) {
  const auto hint_of = [](const std::string& text) {
    return server_fault_of("trusted_proxies = [\"192.0.2.1\", \"" + text + "\"]\n");
  };
  EXPECT_EQ(hint_of("10.1.2.3/8"),
            "t.toml:2:33: 'trusted_proxies' in [server] must list CIDR blocks such as "
            "\"10.0.0.0/8\", found \"10.1.2.3/8\"; write \"10.0.0.0/8\"");
  EXPECT_EQ(hint_of("10.0.0.*"),
            "t.toml:2:33: 'trusted_proxies' in [server] must list CIDR blocks such as "
            "\"10.0.0.0/8\", found \"10.0.0.*\"");
}

TEST(ConfigTrustedProxiesTest, AreWarnedAboutWhenTheyAreEverybody) {
  EXPECT_THAT(
      parse_config("[server]\ntrusted_proxies = [\"10.0.0.0/8\", \"0.0.0.0/0\", \"::/0\"]\n",
                   "t.toml")
          .warnings,
      ElementsAre("t.toml:2:34: 'trusted_proxies' in [server] holds \"0.0.0.0/0\"; whoever "
                  "reaches the gateway can forge the address of a client",
                  "t.toml:2:47: 'trusted_proxies' in [server] holds \"::/0\"; whoever "
                  "reaches the gateway can forge the address of a client"));
  EXPECT_THAT(parse_config("[server]\ntrusted_proxies = [\"0.0.0.0/1\"]\n", "t.toml").warnings,
              IsEmpty());
}

template <auto Free>
struct Freed {
  template <typename Object>
  void operator()(Object* object) const {
    Free(object);
  }
};

// A key and its self-signed certificate, written as PEM files.
void write_key_pair(const std::filesystem::path& certificate_file,
                    const std::filesystem::path& key_file) {
  const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key{EVP_EC_gen("P-256")};
  const std::unique_ptr<X509, Freed<X509_free>> certificate{X509_new()};
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3'600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  using File = std::unique_ptr<std::FILE, Freed<std::fclose>>;
  PEM_write_X509(File{std::fopen(certificate_file.c_str(), "we")}.get(), certificate.get());
  PEM_write_PrivateKey(File{std::fopen(key_file.c_str(), "we")}.get(), key.get(), nullptr, nullptr,
                       0, nullptr, nullptr);
}

class ConfigTlsTest : public ConfigFolderTest {
 protected:
  void SetUp() override {
    ConfigFolderTest::SetUp();
    write_key_pair(folder() / "chain.pem", folder() / "key.pem");
  }
  Config config_of(const std::string& keys) {
    return parse_config("[server]\n" + keys, folder() / "t.toml");
  }
  std::string tls_fault_of(const std::string& keys) {
    return fault_of("[server]\n" + keys, folder() / "t.toml");
  }
  std::string at(const std::string& position) {
    return (folder() / "t.toml").string() + ":" + position + ": ";
  }
};

TEST_F(ConfigTlsTest, TakesPathsFromTheFolderOfTheFile) {
  const auto config = config_of("tls_certificate = \"chain.pem\"\ntls_key = \"key.pem\"\n");
  EXPECT_EQ(config.server.tls_certificate, folder() / "chain.pem");
  EXPECT_EQ(config.server.tls_key, folder() / "key.pem");
}

TEST_F(ConfigTlsTest, TakesWholePathsAndVariables) {
  const EnvironmentVariable key{"HOOKGATE_TEST_TLS_KEY", (folder() / "key.pem").string()};
  const auto config = config_of("tls_certificate = \"" + (folder() / "chain.pem").string() +
                                "\"\ntls_key = \"env:HOOKGATE_TEST_TLS_KEY\"\n");
  EXPECT_EQ(config.server.tls_certificate, folder() / "chain.pem");
  EXPECT_EQ(config.server.tls_key, folder() / "key.pem");
}

TEST_F(ConfigTlsTest, NeedsBoth) {
  EXPECT_EQ(
      tls_fault_of("tls_certificate = \"chain.pem\"\n"),
      at("2:19") + "'tls_certificate' in [server] needs 'tls_key', the file of its private key");
  EXPECT_EQ(tls_fault_of("tls_key = \"key.pem\"\n"),
            at("2:11") +
                "'tls_key' in [server] needs 'tls_certificate', the file of the certificate chain");
}

TEST_F(ConfigTlsTest, NeedsTheReactor) {
  EXPECT_EQ(tls_fault_of("listener = \"httplib\"\ntls_certificate = \"chain.pem\"\ntls_key = "
                         "\"key.pem\"\n"),
            at("3:19") +
                "'tls_certificate' in [server] asks for TLS, which the listener \"httplib\" has "
                "not; write listener = \"reactor\"");
}

TEST_F(ConfigTlsTest, NeedsFilesThatCanBeRead) {
  EXPECT_EQ(tls_fault_of("tls_certificate = \"chain.pem\"\ntls_key = \"kay.pem\"\n"),
            at("3:11") +
                "'tls_key' in [server] names the file \"kay.pem\", which cannot be read: No such "
                "file or directory");
  EXPECT_EQ(tls_fault_of("tls_certificate = \".\"\ntls_key = \"key.pem\"\n"),
            at("2:19") +
                "'tls_certificate' in [server] names the file \".\", which cannot be read: Is a "
                "directory");
}

TEST_F(ConfigTlsTest, TellsThatAPathIsMeantAndNotAContent) {
  EXPECT_EQ(tls_fault_of("tls_certificate = \"file:chain.pem\"\ntls_key = \"key.pem\"\n"),
            at("2:19") +
                "'tls_certificate' in [server] is the path itself, not the content of a file; "
                "write \"chain.pem\"");
}

TEST_F(ConfigTlsTest, NeedsFilesThatFitTogether) {
  write_key_pair(folder() / "other.pem", folder() / "other-key.pem");
  EXPECT_THAT(
      tls_fault_of("tls_certificate = \"chain.pem\"\ntls_key = \"other-key.pem\"\n"),
      StartsWith(at("2:19") + "'tls_certificate' in [server] cannot be used with 'tls_key': "));
}

}  // namespace
}  // namespace hookgate
