#include "config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>  // mkfifo

#include "config_test_support.h"

namespace hookgate {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ConfigTypeTest, OfAStringIsChecked) {
  EXPECT_EQ(fault_of("[server]\nlisten = 8080\n"),
            "t.toml:2:10: 'listen' in [server] must be a string, found an integer");
  EXPECT_EQ(fault_of("[server]\nlisten = [\"a\"]\n"),
            "t.toml:2:10: 'listen' in [server] must be a string, found a list");
  EXPECT_EQ(fault_of("[server]\nlisten = 2026-01-01\n"),
            "t.toml:2:10: 'listen' in [server] must be a string, found a date or time");
}

TEST(ConfigTypeTest, OfAnIntegerIsChecked) {
  EXPECT_EQ(fault_of("[workers]\ncount = 4.0\n"),
            "t.toml:2:9: 'count' in [workers] must be an integer, found a fraction");
  EXPECT_EQ(fault_of("[workers]\ncount = \"4\"\n"),
            "t.toml:2:9: 'count' in [workers] must be an integer, found a string; leave out the "
            "quotes");
  EXPECT_EQ(fault_of("[workers]\ncount = \"four\"\n"),
            "t.toml:2:9: 'count' in [workers] must be an integer, found a string");
}

TEST(ConfigTypeTest, OfABooleanIsChecked) {
  EXPECT_EQ(fault_of("[database]\nmigrate = \"false\"\n"),
            "t.toml:2:11: 'migrate' in [database] must be true or false, found a string; leave out "
            "the quotes");
  EXPECT_EQ(fault_of("[database]\nmigrate = 1\n"),
            "t.toml:2:11: 'migrate' in [database] must be true or false, found an integer");
}

TEST(ConfigTypeTest, OfAListIsChecked) {
  EXPECT_EQ(fault_of(a_stripe_source("handlers = \"payments\"\n")),
            "t.toml:5:12: 'handlers' in [[source]] must be a list of strings, found a string; put "
            "it between [ and ]");
  EXPECT_EQ(fault_of(a_stripe_source("handlers = true\n")),
            "t.toml:5:12: 'handlers' in [[source]] must be a list of strings, found a boolean");
  EXPECT_EQ(fault_of(a_stripe_source("handlers = [\n  1]\n")),
            "t.toml:6:3: 'handlers' in [[source]] must be a list of strings, found an integer in "
            "it");
}

TEST(ConfigTypeTest, OfATableIsChecked) {
  EXPECT_EQ(fault_of(a_stripe_source("basic_auth = \"user:password\"\n")),
            "t.toml:5:14: 'basic_auth' in [[source]] must be a table, found a string");
}

TEST(ConfigDurationTest, RefusesABareNumberAndSaysWhatToWrite) {
  EXPECT_EQ(fault_of("[server]\nrequest_timeout = 5\n"),
            "t.toml:2:19: 'request_timeout' in [server] must be a duration such as \"90s\", found "
            "an integer; write \"5s\"");
  EXPECT_EQ(fault_of("[server]\nrequest_timeout = \"5\"\n"),
            "t.toml:2:19: 'request_timeout' in [server] must be a duration such as \"90s\", found "
            "\"5\"; write \"5s\"");
}

TEST(ConfigDurationTest, RefusesZero) {
  EXPECT_EQ(fault_of("[server]\nrequest_timeout = \"0s\"\n"),
            "t.toml:2:19: 'request_timeout' in [server] must be from 1ms to 1h, found \"0s\"");
}

TEST(ConfigDurationTest, RefusesWhatIsTooLong) {
  EXPECT_EQ(fault_of("[server]\nshutdown_grace = \"61m\"\n"),
            "t.toml:2:18: 'shutdown_grace' in [server] must be from 1ms to 1h, found \"61m\"");
}

TEST(ConfigDurationTest, RefusesWhatOverflows) {
  EXPECT_EQ(fault_of("[server]\nshutdown_grace = \"99999999999999999999d\"\n"),
            "t.toml:2:18: 'shutdown_grace' in [server] must be from 1ms to 1h, found "
            "\"99999999999999999999d\"");
}

TEST(ConfigDurationTest, RefusesAFractionOfItsGrain) {
  EXPECT_EQ(fault_of("[retention]\nbodies = \"90m\"\n"),
            "t.toml:2:10: 'bodies' in [retention] must be a multiple of 1h, found \"90m\"");
}

TEST(ConfigSizeTest, RefusesABareNumberAndSaysWhatToWrite) {
  EXPECT_EQ(fault_of("[server]\nmax_body = 1048576\n"),
            "t.toml:2:12: 'max_body' in [server] must be a size such as \"256KiB\", found an "
            "integer; write \"1MiB\"");
}

TEST(ConfigSizeTest, RefusesADecimalUnitAndSaysWhatToWrite) {
  EXPECT_EQ(fault_of("[server]\nmax_body = \"64KB\"\n"),
            "t.toml:2:12: 'max_body' in [server] must be a size such as \"256KiB\", found "
            "\"64KB\"; write \"64KiB\"");
}

TEST(ConfigSizeTest, RefusesZeroTooLargeAndOverflow) {
  EXPECT_EQ(fault_of("[server]\nmax_body = \"0B\"\n"),
            "t.toml:2:12: 'max_body' in [server] must be from 1B to 64MiB, found \"0B\"");
  EXPECT_EQ(fault_of("[server]\nmax_body = \"65MiB\"\n"),
            "t.toml:2:12: 'max_body' in [server] must be from 1B to 64MiB, found \"65MiB\"");
  EXPECT_EQ(fault_of("[server]\nmax_body = \"9999999999999GiB\"\n"),
            "t.toml:2:12: 'max_body' in [server] must be from 1B to 64MiB, found "
            "\"9999999999999GiB\"");
}

TEST(ConfigIntegerTest, RefusesWhatIsOutsideItsRange) {
  EXPECT_EQ(fault_of("[workers]\ncount = -1\n"),
            "t.toml:2:9: 'count' in [workers] must be from 0 to 256, found -1");
  EXPECT_EQ(fault_of("[workers]\ncount = 257\n"),
            "t.toml:2:9: 'count' in [workers] must be from 0 to 256, found 257");
  EXPECT_EQ(fault_of("[workers]\nmax_attempts = 0\n"),
            "t.toml:2:16: 'max_attempts' in [workers] must be from 1 to 1000, found 0");
  EXPECT_THAT(fault_of("[workers]\nhandler_timeout = \"11m\"\n"),
              ::testing::StartsWith("t.toml:2:19: 'handler_timeout' in [workers] must be"));
  EXPECT_EQ(fault_of("[server]\nmax_connections = 0\n"),
            "t.toml:2:19: 'max_connections' in [server] must be from 1 to 1000000, found 0");
}

TEST(ConfigEnvironmentTest, ReplacesAnyString) {
  const EnvironmentVariable listen{"HOOKGATE_TEST_LISTEN", "127.0.0.1:9000"};
  const EnvironmentVariable timeout{"HOOKGATE_TEST_TIMEOUT", "7s"};
  const auto config = parse_config(
      "[server]\nlisten = \"env:HOOKGATE_TEST_LISTEN\"\n"
      "request_timeout = \"env:HOOKGATE_TEST_TIMEOUT\"\n",
      "t.toml");
  EXPECT_EQ(config.server.listen, "127.0.0.1:9000");
  EXPECT_EQ(config.server.request_timeout, std::chrono::seconds{7});
}

TEST(ConfigEnvironmentTest, ReplacesStringsInListsAndInlineTables) {
  const EnvironmentVariable secret{"HOOKGATE_TEST_SECRET", "whsec_INVENTED_2"};
  const EnvironmentVariable password{"HOOKGATE_TEST_PASSWORD", "invented"};
  const auto config = parse_config(
      "[[source]]\nname = \"a\"\nprovider = \"stripe\"\n"
      "secrets = [\"whsec_INVENTED_1\", \"env:HOOKGATE_TEST_SECRET\"]\n"
      "basic_auth = { user = \"u\", password = \"env:HOOKGATE_TEST_PASSWORD\" }\n",
      "t.toml");
  const auto& source = config.sources.at(0);
  EXPECT_EQ(source.settings.secrets,
            (std::vector{Secret{"whsec_INVENTED_1"}, Secret{"whsec_INVENTED_2"}}));
  EXPECT_EQ(source.basic_auth->password, Secret{"invented"});
}

TEST(ConfigEnvironmentTest, IsReplacedOnce) {
  const EnvironmentVariable url{"HOOKGATE_TEST_URL", "env:HOME"};
  const auto config = parse_config("[database]\nurl = \"env:HOOKGATE_TEST_URL\"\n", "t.toml");
  EXPECT_EQ(config.database.url, Secret{"env:HOME"});
}

TEST(ConfigEnvironmentTest, RefusesAVariableThatIsNotSet) {
  EXPECT_EQ(fault_of("[admin]\ntoken = \"env:HOOKGATE_TEST_ABSENT\"\n"),
            "t.toml:2:9: 'token' in [admin] needs the environment variable HOOKGATE_TEST_ABSENT, "
            "which is not set");
}

TEST(ConfigEnvironmentTest, RefusesAVariableThatIsEmpty) {
  const EnvironmentVariable token{"HOOKGATE_TEST_TOKEN", ""};
  EXPECT_EQ(fault_of("[admin]\ntoken = \"env:HOOKGATE_TEST_TOKEN\"\n"),
            "t.toml:2:9: 'token' in [admin] needs the environment variable HOOKGATE_TEST_TOKEN, "
            "which is empty");
}

TEST(ConfigEnvironmentTest, RefusesWhatIsNoVariableName) {
  for (const auto* name : {"", "$HOME", "A B", "A=B"})
    EXPECT_EQ(fault_of("[admin]\ntoken = \"env:" + std::string{name} + "\"\n"),
              "t.toml:2:9: 'token' in [admin] must be env: and a variable's name of letters, "
              "digits and _");
}

TEST(ConfigEnvironmentTest, NeverShowsTheValueOfAVariable) {
  const EnvironmentVariable secret{"HOOKGATE_TEST_SECRET", "whsec_INVENTED"};
  const EnvironmentVariable number{"HOOKGATE_TEST_NUMBER", "98765432"};
  const std::string reference = "\"env:HOOKGATE_TEST_SECRET\"\n";
  EXPECT_EQ(fault_of("[server]\nlisten = " + reference),
            "t.toml:2:10: 'listen' in [server] must be host:port such as \"127.0.0.1:8080\", found "
            "the value of \"env:HOOKGATE_TEST_SECRET\"");
  for (const auto& text :
       {"[server]\nmax_body = " + reference, "[server]\nlistener = " + reference,
        "[server]\nrequest_timeout = " + reference, "[[source]]\nname = " + reference,
        "[[source]]\nname = \"a\"\nprovider = " + reference,
        "[[handler]]\nname = \"a\"\nkind = " + reference, an_adyen_source("scheme = " + reference),
        a_stripe_source("handlers = [\"env:HOOKGATE_TEST_SECRET\"]\n"),
        std::string{"[server]\nmax_body = \"env:HOOKGATE_TEST_NUMBER\"\n"},
        std::string{"[server]\nrequest_timeout = \"env:HOOKGATE_TEST_NUMBER\"\n"},
        std::string{"[server]\nlisten = \"env:HOOKGATE_TEST_NUMBER\"\n"}}) {
    const auto fault = fault_of(text);
    EXPECT_THAT(fault, HasSubstr("env:HOOKGATE_TEST_")) << text;
    EXPECT_THAT(fault, Not(HasSubstr("INVENTED"))) << text;
    EXPECT_THAT(fault, Not(HasSubstr("98765432"))) << text;
  }
}

TEST(ConfigEnvironmentTest, IsNoGroundForASuggestion) {
  const EnvironmentVariable provider{"HOOKGATE_TEST_PROVIDER", "strype"};
  EXPECT_EQ(fault_of("[[source]]\nname = \"a\"\nprovider = \"env:HOOKGATE_TEST_PROVIDER\"\n"),
            "t.toml:3:12: 'provider' in [[source]] is the value of \"env:HOOKGATE_TEST_PROVIDER\", "
            "which is unknown; there are \"adyen\", \"idempotency-key\", \"standard-webhooks\", "
            "\"stripe\"");
}

TEST(ConfigTextTest, RefusesANulCharacter) {
  EXPECT_EQ(fault_of("[database]\nurl = \"postgresql:///a\\u0000b\"\n"),
            "t.toml:2:7: 'url' in [database] must not hold a NUL character");
}

class ConfigFileReferenceTest : public ConfigFolderTest {
 protected:
  std::string token_fault(const std::string& reference) {
    return fault_of("[admin]\ntoken = \"" + reference + "\"\n", folder() / "t.toml");
  }
  std::string at(std::string_view text) {
    return (folder() / "t.toml").string() + ":2:9: 'token' in [admin] " + std::string{text};
  }
};

TEST_F(ConfigFileReferenceTest, IsReadFromTheFolderOfTheConfiguration) {
  write("token", "invented");
  const auto config = load_config(write("t.toml", "[admin]\ntoken = \"file:token\"\n"));
  EXPECT_EQ(config.admin.token, Secret{"invented"});
}

TEST_F(ConfigFileReferenceTest, MayBeAnAbsolutePath) {
  const auto token = write("token", "invented");
  const auto config =
      parse_config("[admin]\ntoken = \"file:" + token.string() + "\"\n", "elsewhere/t.toml");
  EXPECT_EQ(config.admin.token, Secret{"invented"});
}

TEST_F(ConfigFileReferenceTest, LosesOnlyItsTrailingNewlines) {
  write("token", " in\nvented \r\n\n");
  const auto config = load_config(write("t.toml", "[admin]\ntoken = \"file:token\"\n"));
  EXPECT_EQ(config.admin.token, Secret{" in\nvented "});
}

TEST_F(ConfigFileReferenceTest, RefusesAMissingFile) {
  EXPECT_EQ(token_fault("file:absent"),
            at("needs the file \"absent\", which cannot be read: No such file or directory"));
}

TEST_F(ConfigFileReferenceTest, RefusesAFileThatCannotBeRead) {
  std::filesystem::create_directory(folder() / "token");
  EXPECT_EQ(token_fault("file:token"),
            at("needs the file \"token\", which cannot be read: Is a directory"));
}

// Opening a pipe would wait for its other end.
TEST_F(ConfigFileReferenceTest, RefusesAPipeAndADeviceUnopened) {
  ASSERT_EQ(mkfifo((folder() / "token").c_str(), 0600), 0);
  EXPECT_EQ(token_fault("file:token"),
            at("needs the file \"token\", which cannot be read: it is not a regular file"));
  EXPECT_EQ(token_fault("file:/dev/zero"),
            at("needs the file \"/dev/zero\", which cannot be read: it is not a regular file"));
}

TEST_F(ConfigFileReferenceTest, RefusesAnEmptyFile) {
  write("token", "\r\n\n");
  EXPECT_EQ(token_fault("file:token"), at("needs the file \"token\", which is empty"));
}

TEST_F(ConfigFileReferenceTest, RefusesAFileThatIsTooLarge) {
  write("token", std::string(64 * 1024 + 1, 'a'));
  EXPECT_EQ(token_fault("file:token"), at("needs the file \"token\", which cannot be read: it is "
                                          "larger than 65536 bytes"));
}

TEST_F(ConfigFileReferenceTest, RefusesAnEmptyPath) {
  EXPECT_EQ(token_fault("file:"), at("must be file: and a path"));
}

}  // namespace
}  // namespace hookgate
