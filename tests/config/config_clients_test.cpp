#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_test_support.h"

namespace hookgate {
namespace {

using std::chrono::hours;
using testing::HasSubstr;

constexpr std::string_view kHead =
    "[[source]]\nname = \"orders\"\nprovider = \"idempotency-key\"\n";
constexpr std::string_view kClients = "clients = [{ name = \"web\", key = \"invented\" }]\n";
constexpr std::string_view kHandler =
    "[[handler]]\nname = \"make\"\nkind = \"sql\"\nstatement = \"SELECT 1\"\n"
    "[[handler]]\nname = \"ledger\"\nkind = \"payments\"\n";

SourceConfig read(const std::string& lines) {
  return parse_config(std::string{kHead} + lines + std::string{kHandler}, "t.toml").sources.at(0);
}

std::string fault(const std::string& lines) {
  try {
    read(lines);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ConfigClientsTest, ReadsClientsAndWhoResponds) {
  const auto source = read(std::string{kClients} + "respond = \"make\"\n");
  ASSERT_EQ(source.settings.clients.size(), 1U);
  EXPECT_EQ(source.settings.clients[0].name, "web");
  EXPECT_EQ(source.settings.clients[0].key.reveal(), "invented");
  EXPECT_EQ(source.respond, "make");
  EXPECT_EQ(source.retain, hours{24});
}

TEST(ConfigClientsTest, KeysMayBeKeptShorterThanADay) {
  EXPECT_EQ(read(std::string{kClients} + "retain = \"1h\"\n").retain, hours{1});
}

TEST(ConfigClientsTest, WithoutAClientNobodyCouldBeTold) {
  EXPECT_EQ(fault(""), "t.toml:1:1: [[source]] has no 'clients'; without one anybody could send");
  EXPECT_THAT(fault("clients = []\n"), HasSubstr("t.toml:4:11: 'clients'"));
  EXPECT_THAT(fault("clients = [1]\n"), HasSubstr("t.toml:4:11: 'clients'"));
}

TEST(ConfigClientsTest, RefusesWhatIsNoClient) {
  EXPECT_THAT(fault("clients = [{ name = \"web\" }]\n"), HasSubstr("has no 'key'"));
  EXPECT_THAT(fault("clients = [{ name = \"web\", key = \"\" }]\n"), HasSubstr("t.toml:4:34: "));
  EXPECT_THAT(fault("clients = [{ name = \"Web\", key = \"invented\" }]\n"),
              HasSubstr("t.toml:4:21: 'name' in clients of [[source]] must be 1 to 64 of"));
  EXPECT_THAT(fault("clients = [{ name = \"web\", kee = \"invented\" }]\n"),
              HasSubstr("unknown key 'kee' in clients of [[source]]; did you mean 'key'?"));
}

TEST(ConfigClientsTest, ARefusedKeyIsNamedByItsPlaceAndNotShown) {
  const auto text =
      fault("clients = [{ name = \"a\", key = \"same\" }, { name = \"b\", key = \"same\" }]\n");
  EXPECT_EQ(text, "t.toml:4:62: 'clients' in [[source]] cannot be used: two clients have one key");
  EXPECT_THAT(fault("clients = [{ name = \"a\", key = \"in vented\" }]\n"),
              Not(HasSubstr("vented")));
}

TEST(ConfigClientsTest, OtherCredentialsAreRefused) {
  EXPECT_THAT(fault(std::string{kClients} + "secrets = [\"x\"]\n"),
              HasSubstr("t.toml:5:1: 'secrets' in [[source]] is not for the provider"));
  EXPECT_THAT(fault(std::string{kClients} + "basic_auth = { user = \"a\", password = \"b\" }\n"),
              HasSubstr("t.toml:5:1: 'basic_auth' in [[source]] is not for the provider"));
}

TEST(ConfigClientsTest, AreOnlyForTheirProvider) {
  try {
    parse_config(a_stripe_source(kClients), "t.toml");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'clients' in [[source]] is only for the provider"));
  }
}

TEST(ConfigClientsTest, OnlyAHandlerWithAnAnswerResponds) {
  EXPECT_EQ(fault(std::string{kClients} + "respond = \"ledger\"\n"),
            "t.toml:5:11: 'respond' in [[source]] names \"ledger\" of the kind \"payments\"; only "
            "the kind \"sql\" has an answer");
  EXPECT_THAT(fault(std::string{kClients} + "respond = \"made\"\n"),
              HasSubstr("there is no such [[handler]]; did you mean \"make\"?"));
}

}  // namespace
}  // namespace hookgate
