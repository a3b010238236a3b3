#include "config_forward.h"

#include <gtest/gtest.h>

#include "config_test_support.h"

namespace hookgate {
namespace {

using std::chrono::seconds;

// Base64 of "invented-for-tests-only-0001".
constexpr std::string_view kSecretLine =
    "secret = \"whsec_aW52ZW50ZWQtZm9yLXRlc3RzLW9ubHktMDAwMQ==\"\n";

// Url in line 4, secret in line 5, `rest` from the sixth on.
std::string a_forward_handler(std::string_view rest = "") {
  return "[[handler]]\nname = \"crm\"\nkind = \"forward\"\nurl = \"https://crm.test/hooks\"\n" +
         std::string{kSecretLine} + std::string{rest};
}

std::string with_url(const std::string& url) {
  return "[[handler]]\nname = \"crm\"\nkind = \"forward\"\nurl = \"" + url + "\"\n" +
         std::string{kSecretLine};
}

std::string with_secret(const std::string& secret) {
  return "[[handler]]\nname = \"crm\"\nkind = \"forward\"\nurl = \"https://crm.test/\"\nsecret = "
         "\"" +
         secret + "\"\n";
}

ForwardSettings forward_of(const std::string& text) {
  return parse_config(text, "t.toml").handlers.at(0).forward.value();
}

TEST(ConfigForwardTest, HasDefaults) {
  const auto forward = forward_of(a_forward_handler());
  EXPECT_EQ(forward.url.host, "crm.test");
  EXPECT_EQ(forward.timeout, seconds{10});
  EXPECT_EQ(forward.concurrency, 4);
  EXPECT_EQ(forward.max_attempts, 20);
  EXPECT_FALSE(forward.ordered);
  EXPECT_FALSE(forward.refuse_private_addresses);
}

TEST(ConfigForwardTest, TakesEveryKey) {
  const auto forward = forward_of(a_forward_handler(
      "timeout = \"3s\"\nconcurrency = 2\nmax_attempts = 5\nordered = true\nprivate_addresses = "
      "\"refuse\"\n"));
  EXPECT_EQ(forward.timeout, seconds{3});
  EXPECT_EQ(forward.concurrency, 2);
  EXPECT_EQ(forward.max_attempts, 5);
  EXPECT_TRUE(forward.ordered);
  EXPECT_TRUE(forward.refuse_private_addresses);
}

TEST(ConfigForwardTest, NeedsAUrlAndASecret) {
  EXPECT_EQ(fault_of("[[handler]]\nname = \"crm\"\nkind = \"forward\"\n"),
            "t.toml:1:1: [[handler]] has no 'url'; the kind \"forward\" sends there");
  EXPECT_EQ(fault_of("[[handler]]\nname = \"crm\"\nkind = \"forward\"\nurl = \"https://a/\"\n"),
            "t.toml:1:1: [[handler]] has no 'secret'; receivers trust what it signs");
}

TEST(ConfigForwardTest, RefusesAUrlThatCannotBeRequested) {
  EXPECT_EQ(fault_of(with_url("crm.test/hooks")),
            "t.toml:4:7: 'url' in [[handler]] must be a URL such as "
            "\"https://crm.internal/hooks\", found \"crm.test/hooks\", which does not begin with "
            "https:// or http://");
}

TEST(ConfigForwardTest, RefusesASecretThatCannotSignAndDoesNotShowIt) {
  const std::string at = "t.toml:5:10: 'secret' in [[handler]] ";
  EXPECT_EQ(fault_of(with_secret("whsec_")), at + "cannot be used: the secret is empty");
  EXPECT_EQ(fault_of(with_secret("whsec_invented!")),
            at + "cannot be used: the secret is not base64");
  EXPECT_EQ(fault_of(with_secret("aW52ZW50ZWQ=")),
            at + "must be \"whsec_\" and base64, the key that signs");
  EXPECT_EQ(fault_of(with_secret("whpk_aW52ZW50ZWQ=")),
            at + "must be \"whsec_\" and base64, the key that signs");
}

TEST(ConfigForwardTest, ReadsItsSecretFromTheEnvironment) {
  const EnvironmentVariable variable{"HOOKGATE_TEST_CRM", "whsec_aW52ZW50ZWQtZm9yLXRlc3Rz"};
  EXPECT_EQ(forward_of(with_secret("env:HOOKGATE_TEST_CRM")).secret.reveal(),
            "whsec_aW52ZW50ZWQtZm9yLXRlc3Rz");
}

TEST(ConfigForwardTest, RefusesValuesOutOfRange) {
  EXPECT_NE(fault_of(a_forward_handler("timeout = \"0s\"\n")), kAccepted);
  EXPECT_NE(fault_of(a_forward_handler("timeout = \"11m\"\n")), kAccepted);
  EXPECT_NE(fault_of(a_forward_handler("concurrency = 0\n")), kAccepted);
  EXPECT_NE(fault_of(a_forward_handler("concurrency = 65\n")), kAccepted);
  EXPECT_NE(fault_of(a_forward_handler("max_attempts = 0\n")), kAccepted);
  EXPECT_NE(fault_of(a_forward_handler("ordered = 1\n")), kAccepted);
  EXPECT_EQ(fault_of(a_forward_handler("private_addresses = \"deny\"\n")),
            "t.toml:6:21: 'private_addresses' in [[handler]] is \"deny\", which is unknown; there "
            "are \"allow\", \"refuse\"");
}

TEST(ConfigForwardTest, RefusesAPrivateAddressWhereItRefusesThem) {
  EXPECT_EQ(fault_of(with_url("http://127.0.0.1/") + "private_addresses = \"refuse\"\n"),
            "t.toml:6:21: 'private_addresses' in [[handler]] is \"refuse\", but 'url' names a "
            "private address");
  EXPECT_EQ(fault_of(with_url("http://127.0.0.1/") + "private_addresses = \"allow\"\n"), kAccepted);
}

TEST(ConfigForwardTest, KeysBelongToTheirKind) {
  EXPECT_EQ(fault_of("[[handler]]\nname = \"a\"\nkind = \"payments\"\nordered = true\n"),
            "t.toml:4:11: 'ordered' in [[handler]] is only for the kind \"forward\"");
  EXPECT_EQ(fault_of(a_forward_handler("capture = \"manual\"\n")),
            "t.toml:6:1: 'capture' in [[handler]] is only for the kind \"payments\"");
}

}  // namespace
}  // namespace hookgate
