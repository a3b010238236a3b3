#include "config_sources.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_test_support.h"

namespace hookgate {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kPaymentsHandler =
    "[[handler]]\nname = \"payments\"\nkind = \"payments\"\n";

std::string with_secrets(std::string_view provider, std::string_view secrets) {
  return "[[source]]\nname = \"a\"\nprovider = \"" + std::string{provider} +
         "\"\nsecrets = " + std::string{secrets} + "\n";
}

SourceConfig first_source(const std::string& text) {
  return parse_config(text, "t.toml").sources.at(0);
}

TEST(ConfigSourceTest, HasItsDefaults) {
  const auto source = first_source(a_stripe_source());
  EXPECT_EQ(source.name, "stripe");
  EXPECT_EQ(source.provider, "stripe");
  EXPECT_EQ(source.settings.secrets, std::vector{Secret{"whsec_INVENTED"}});
  EXPECT_EQ(source.settings.tolerance, seconds{300});
  EXPECT_EQ(source.settings.scheme, "item");
  EXPECT_EQ(source.retain, hours{24 * 35});
  EXPECT_EQ(source.live, std::nullopt);
  EXPECT_THAT(source.accounts, IsEmpty());
  EXPECT_FALSE(source.basic_auth);
  EXPECT_THAT(source.handlers, IsEmpty());
}

TEST(ConfigSourceTest, IsKeptByDefaultForTheHorizonOfItsOwnProvider) {
  EXPECT_EQ(first_source(an_adyen_source()).retain, hours{24 * 40});
}

TEST(ConfigSourceTest, ReadsEveryKey) {
  const auto source =
      first_source(an_adyen_source("tolerance = \"90s\"\nretain = \"50d\"\nlive = true\n"
                                   "accounts = [\"AcmeECOM\", \"AcmePOS\"]\nscheme = \"header\"\n"
                                   "basic_auth = { user = \"u\", password = \"p:w\" }\n"
                                   "handlers = [\"payments\"]\n") +
                   std::string{kPaymentsHandler});
  EXPECT_EQ(source.settings.tolerance, seconds{90});
  EXPECT_EQ(source.settings.scheme, "header");
  EXPECT_EQ(source.retain, hours{24 * 50});
  EXPECT_EQ(source.live, true);
  EXPECT_THAT(source.accounts, ElementsAre("AcmeECOM", "AcmePOS"));
  EXPECT_EQ(source.basic_auth->user, Secret{"u"});
  EXPECT_EQ(source.basic_auth->password, Secret{"p:w"});
  EXPECT_THAT(source.handlers, ElementsAre("payments"));
}

TEST(ConfigNameTest, IsNeeded) {
  EXPECT_EQ(fault_of("\n  [[source]]\nprovider = \"stripe\"\n"),
            "t.toml:2:3: [[source]] has no 'name'");
  EXPECT_EQ(fault_of("[[handler]]\nkind = \"payments\"\n"),
            "t.toml:1:1: [[handler]] has no 'name'");
}

TEST(ConfigNameTest, HasOnlyPlainCharacters) {
  EXPECT_EQ(fault_of("[[source]]\nname = \"My Shop\"\n"),
            "t.toml:2:8: 'name' in [[source]] must be 1 to 64 of a-z, 0-9, '_' and '-', found "
            "\"My Shop\"");
  EXPECT_EQ(fault_of("[[source]]\nname = \"\"\n"),
            "t.toml:2:8: 'name' in [[source]] must not be empty");
}

TEST(ConfigNameTest, OfTwoSourcesMayNotBeTheSame) {
  EXPECT_EQ(fault_of("\n" + a_stripe_source() + a_stripe_source()),
            "t.toml:7:8: 'name' in [[source]] is \"stripe\", which the block in line 2 has");
}

TEST(ConfigNameTest, OfTwoHandlersMayNotBeTheSame) {
  EXPECT_EQ(fault_of(std::string{kPaymentsHandler} + std::string{kPaymentsHandler}),
            "t.toml:5:8: 'name' in [[handler]] is \"payments\", which the block in line 1 has");
}

TEST(ConfigNameTest, MayBeSharedByASourceAndAHandler) {
  EXPECT_EQ(fault_of(a_stripe_source("[[handler]]\nname = \"stripe\"\nkind = \"payments\"\n")),
            kAccepted);
}

TEST(ConfigProviderTest, IsNeeded) {
  EXPECT_EQ(fault_of("[[source]]\nname = \"a\"\n"),
            "t.toml:1:1: [[source]] has no 'provider'; there are \"adyen\", \"idempotency-key\", "
            "\"standard-webhooks\", "
            "\"stripe\"");
}

TEST(ConfigProviderTest, IsSuggestedWhenItIsMisspelt) {
  EXPECT_EQ(fault_of("[[source]]\nname = \"a\"\nprovider = \"strpie\"\n"),
            "t.toml:3:12: 'provider' in [[source]] is \"strpie\", which is unknown; did you mean "
            "\"stripe\"?");
  EXPECT_EQ(fault_of("[[source]]\nname = \"a\"\nprovider = \"acme\"\n"),
            "t.toml:3:12: 'provider' in [[source]] is \"acme\", which is unknown; there are "
            "\"adyen\", \"idempotency-key\", \"standard-webhooks\", \"stripe\"");
}

// SIG-008: a missing or empty secret fails closed.
TEST(ConfigSecretsTest, AreNeeded) {
  EXPECT_EQ(fault_of("[[source]]\nname = \"a\"\nprovider = \"stripe\"\n"),
            "t.toml:1:1: [[source]] has no 'secrets'; without one anybody could sign");
}

TEST(ConfigSecretsTest, MayNotBeAnEmptyList) {
  EXPECT_EQ(fault_of(with_secrets("stripe", "[]")),
            "t.toml:4:11: 'secrets' in [[source]] is empty; without one anybody could sign");
}

TEST(ConfigSecretsTest, MayNotBeEmptyOrBlank) {
  EXPECT_EQ(fault_of(with_secrets("stripe", "[\"\"]")),
            "t.toml:4:12: 'secrets' in [[source]] must not be empty");
  EXPECT_EQ(fault_of(with_secrets("stripe", "[\"   \"]")),
            "t.toml:4:12: 'secrets' in [[source]] must not be empty");
}

TEST(ConfigSecretsTest, MayNotHoldAnEmptyOneBesideAGoodOne) {
  EXPECT_EQ(fault_of(with_secrets("stripe", "[\"whsec_INVENTED\",\n  \"\"]")),
            "t.toml:5:3: 'secrets' in [[source]] must not be empty");
}

TEST(ConfigSecretsTest, AreAListEvenForOne) {
  EXPECT_EQ(fault_of(with_secrets("stripe", "\"whsec_INVENTED\"")),
            "t.toml:4:11: 'secrets' in [[source]] must be a list of strings, found a string; put "
            "it between [ and ]");
}

TEST(ConfigSecretsTest, AreAtMostSixteen) {
  std::string list = "[\"a\"";
  for (int i = 0; i < 16; ++i) list += ", \"a\"";
  EXPECT_EQ(fault_of(with_secrets("stripe", list + "]")),
            "t.toml:4:11: 'secrets' in [[source]] has 17 elements; at most 16 are allowed");
}

// ADY-005: the key of Adyen is hex text.
TEST(ConfigSecretsTest, OfAdyenMayNotHaveAnOddLength) {
  EXPECT_EQ(fault_of(with_secrets("adyen", "[\"" + std::string(63, 'A') + "\"]")),
            "t.toml:4:12: 'secrets' in [[source]] cannot be used: the HMAC key is not 64 hex "
            "digits");
}

TEST(ConfigSecretsTest, OfAdyenMustBeHexAndTheBadOneIsPointedAt) {
  const std::string good(64, 'a');
  const std::string bad(64, 'z');
  EXPECT_EQ(
      fault_of(with_secrets("adyen", "[\"" + good + "\",\n   \"" + bad + "\"]")),
      "t.toml:5:4: 'secrets' in [[source]] cannot be used: the HMAC key is not 64 hex digits");
}

TEST(ConfigSecretsTest, OfAdyenMayBeInEitherCase) {
  EXPECT_EQ(fault_of(with_secrets("adyen", "[\"" + std::string(64, 'a') + "\"]")), kAccepted);
  EXPECT_EQ(fault_of(with_secrets("adyen", "[\"" + std::string(64, 'A') + "\"]")), kAccepted);
}

TEST(ConfigSecretsTest, FromAVariableAreCheckedLikeTheOthers) {
  const EnvironmentVariable key{"HOOKGATE_TEST_KEY", "no-hex-at-all"};
  EXPECT_EQ(fault_of(with_secrets("adyen", "[\"env:HOOKGATE_TEST_KEY\"]")),
            "t.toml:4:12: 'secrets' in [[source]] cannot be used: the HMAC key is not 64 hex "
            "digits");
}

TEST(ConfigSecretsTest, MayNotHoldWhiteSpaceThatNoSenderMeans) {
  EXPECT_EQ(
      fault_of(with_secrets("stripe", "[\"whsec_INVENTED \"]")),
      "t.toml:4:12: 'secrets' in [[source]] cannot be used: the secret holds white space or a "
      "control character");
}

TEST(ConfigSecretsTest, OfStandardWebhooksMustBeBase64) {
  EXPECT_EQ(fault_of(with_secrets("standard-webhooks", "[\"whsec_INVENTED!\"]")),
            "t.toml:4:12: 'secrets' in [[source]] cannot be used: the secret is not base64");
}

// SIG-004: the window is never switched off.
TEST(ConfigToleranceTest, MayNotBeZero) {
  EXPECT_EQ(fault_of(a_stripe_source("tolerance = \"0s\"\n")),
            "t.toml:5:13: 'tolerance' in [[source]] must be from 1s to 3650d, found \"0s\"");
  EXPECT_EQ(fault_of(a_stripe_source("tolerance = 0\n")),
            "t.toml:5:13: 'tolerance' in [[source]] must be a duration such as \"90s\", found an "
            "integer");
}

TEST(ConfigToleranceTest, MayNotBeNegative) {
  EXPECT_EQ(fault_of(a_stripe_source("tolerance = \"-5m\"\n")),
            "t.toml:5:13: 'tolerance' in [[source]] must be from 1s to 3650d, found \"-5m\"");
}

TEST(ConfigToleranceTest, MayNotBeEmpty) {
  EXPECT_EQ(fault_of(a_stripe_source("tolerance = \"\"\n")),
            "t.toml:5:13: 'tolerance' in [[source]] must not be empty");
}

TEST(ConfigToleranceTest, MayNotBeSomethingElse) {
  EXPECT_EQ(fault_of(a_stripe_source("tolerance = \"off\"\n")),
            "t.toml:5:13: 'tolerance' in [[source]] must be a duration such as \"90s\", found "
            "\"off\"");
  EXPECT_EQ(fault_of(a_stripe_source("tolerance = nan\n")),
            "t.toml:5:13: 'tolerance' in [[source]] must be a duration such as \"90s\", found a "
            "fraction");
  EXPECT_EQ(fault_of(a_stripe_source("tolerance = false\n")),
            "t.toml:5:13: 'tolerance' in [[source]] must be a duration such as \"90s\", found a "
            "boolean");
}

TEST(ConfigToleranceTest, IsWholeSeconds) {
  EXPECT_EQ(fault_of(a_stripe_source("tolerance = \"1500ms\"\n")),
            "t.toml:5:13: 'tolerance' in [[source]] must be a multiple of 1s, found \"1500ms\"");
}

TEST(ConfigToleranceTest, LongerThanTheKeysAreKeptIsWarnedAbout) {
  const auto config =
      parse_config(a_stripe_source("tolerance = \"36d\"\nhandlers = [\"payments\"]\n" +
                                   std::string{kPaymentsHandler}),
                   "t.toml");
  EXPECT_THAT(config.warnings,
              ElementsAre("t.toml:5:13: source \"stripe\" has a 'tolerance' longer than its "
                          "'retain'; a captured request can come again after its key is "
                          "forgotten"));
}

TEST(ConfigRetainTest, MayNotBeShorterThanTheProviderSendsAgain) {
  EXPECT_EQ(fault_of(a_stripe_source("retain = \"10d\"\n")),
            "t.toml:5:10: 'retain' in [[source]] is 10d, but stripe can send an event again for "
            "35d; write \"35d\" or more");
  EXPECT_EQ(fault_of(an_adyen_source("retain = \"959h\"\n")),
            "t.toml:5:10: 'retain' in [[source]] is 959h, but adyen can send an event again for "
            "40d; write \"40d\" or more");
}

TEST(ConfigRetainTest, MayBeTheHorizonItself) {
  EXPECT_EQ(fault_of(a_stripe_source("retain = \"35d\"\n")), kAccepted);
}

TEST(ConfigRetainTest, MayNotBeForever) {
  EXPECT_EQ(fault_of(a_stripe_source("retain = \"3651d\"\n")),
            "t.toml:5:10: 'retain' in [[source]] must be from 1h to 3650d, found \"3651d\"");
}

TEST(ConfigLiveTest, IsABoolean) {
  EXPECT_EQ(fault_of(a_stripe_source("live = \"true\"\n")),
            "t.toml:5:8: 'live' in [[source]] must be true or false, found a string; leave out the "
            "quotes");
  EXPECT_EQ(first_source(a_stripe_source("live = false\n")).live, false);
}

TEST(ConfigSchemeTest, IsOnlyForAdyen) {
  EXPECT_EQ(fault_of(a_stripe_source("scheme = \"header\"\n")),
            "t.toml:5:10: 'scheme' in [[source]] is only for the provider \"adyen\"");
}

TEST(ConfigSchemeTest, IsItemOrHeader) {
  EXPECT_EQ(fault_of(an_adyen_source("scheme = \"headers\"\n")),
            "t.toml:5:10: 'scheme' in [[source]] is \"headers\", which is unknown; did you mean "
            "\"header\"?");
}

TEST(ConfigAccountsTest, AreOnlyForAdyen) {
  EXPECT_EQ(fault_of(a_stripe_source("accounts = [\"acct\"]\n")),
            "t.toml:5:12: 'accounts' in [[source]] is only for the provider \"adyen\"");
}

TEST(ConfigAccountsTest, MayNotBeAnEmptyListThatReadsLikeNone) {
  EXPECT_EQ(fault_of(an_adyen_source("accounts = []\n")),
            "t.toml:5:12: 'accounts' in [[source]] is empty; leave it out to take any account");
  EXPECT_EQ(fault_of(an_adyen_source("accounts = [\"\"]\n")),
            "t.toml:5:13: 'accounts' in [[source]] must not be empty");
}

TEST(ConfigBasicAuthTest, NeedsUserAndPassword) {
  EXPECT_EQ(fault_of(a_stripe_source("basic_auth = { user = \"u\" }\n")),
            "t.toml:5:14: basic_auth of [[source]] has no 'password'");
  EXPECT_EQ(fault_of(a_stripe_source("basic_auth = { password = \"p\" }\n")),
            "t.toml:5:14: basic_auth of [[source]] has no 'user'");
}

TEST(ConfigBasicAuthTest, MayNotBeEmpty) {
  EXPECT_EQ(fault_of(a_stripe_source("basic_auth = { user = \"u\", password = \"\" }\n")),
            "t.toml:5:39: 'password' in basic_auth of [[source]] must not be empty");
  EXPECT_EQ(fault_of(a_stripe_source("basic_auth = { user = \"\", password = \"p\" }\n")),
            "t.toml:5:23: 'user' in basic_auth of [[source]] must not be empty");
}

TEST(ConfigBasicAuthTest, HasNoOtherKey) {
  EXPECT_EQ(fault_of(a_stripe_source("[source.basic_auth]\nuser = \"u\"\npasswort = \"p\"\n")),
            "t.toml:7:1: unknown key 'passwort' in basic_auth of [[source]]; did you mean "
            "'password'?");
}

TEST(ConfigBasicAuthTest, HasAUserThatTheHeaderCanCarry) {
  EXPECT_EQ(fault_of(a_stripe_source("basic_auth = { user = \"a:b\", password = \"p\" }\n")),
            "t.toml:5:23: 'user' in basic_auth of [[source]] must not hold a colon; the header "
            "could not carry it");
}

std::vector<std::string> allowed_by(const std::string& keys) {
  std::vector<std::string> texts;
  for (const auto& network : first_source(a_stripe_source(keys)).allow)
    texts.push_back(network.text());
  return texts;
}

TEST(ConfigAllowTest, ListsBlocksAndAddresses) {
  EXPECT_THAT(allowed_by(""), IsEmpty());
  EXPECT_THAT(allowed_by("allow = []\n"), IsEmpty());
  EXPECT_THAT(allowed_by("allow = [\"192.0.2.0/24\", \"2001:db8::1\"]\n"),
              ElementsAre("192.0.2.0/24", "2001:db8::1"));
}

TEST(ConfigAllowTest, RefusesWhatIsNoBlock) {
  EXPECT_EQ(fault_of(a_stripe_source("allow = [\"192.0.2.1/24\"]\n")),
            "t.toml:5:10: 'allow' in [[source]] must list CIDR blocks such as \"10.0.0.0/8\", "
            "found \"192.0.2.1/24\"; write \"192.0.2.0/24\"");
  EXPECT_EQ(fault_of(a_stripe_source("allow = [\"unix:\"]\n")),
            "t.toml:5:10: 'allow' in [[source]] must list CIDR blocks such as \"10.0.0.0/8\", "
            "found \"unix:\"");
  EXPECT_EQ(fault_of(a_stripe_source("allow = 0\n")),
            "t.toml:5:9: 'allow' in [[source]] must be a list of strings, found an integer");
}

TEST(ConfigAllowTest, NeedsNoTrustedProxies) {
  EXPECT_THAT(
      parse_config(a_stripe_source("allow = [\"192.0.2.0/24\"]\nhandlers = [\"payments\"]\n" +
                                   std::string{kPaymentsHandler}),
                   "t.toml")
          .warnings,
      IsEmpty());
}

TEST(ConfigRateLimitTest, IsANumberOfEitherKind) {
  const auto limit_of = [](const std::string& number) {
    return first_source(a_stripe_source("rate_limit = " + number + "\n")).rate_limit;
  };
  EXPECT_EQ(first_source(a_stripe_source()).rate_limit, 0);
  EXPECT_EQ(limit_of("0"), 0);
  EXPECT_EQ(limit_of("50"), 50);
  EXPECT_EQ(limit_of("0.5"), 0.5);
  EXPECT_EQ(limit_of("1e6"), 1'000'000);
}

TEST(ConfigRateLimitTest, RefusesWhatIsNoRate) {
  const auto refused = [](const std::string& number) {
    return fault_of(a_stripe_source("rate_limit = " + number + "\n"));
  };
  const std::string range = "t.toml:5:14: 'rate_limit' in [[source]] must be from 0 to 1000000, ";
  EXPECT_EQ(refused("-1"), range + "found -1");
  EXPECT_EQ(refused("-0.5"), range + "found -0.5");
  EXPECT_EQ(refused("1000000.5"), range + "found 1000000.5");
  EXPECT_EQ(refused("inf"), range + "found inf");
  EXPECT_EQ(refused("nan"), range + "found nan");
  EXPECT_EQ(refused("\"50\""),
            "t.toml:5:14: 'rate_limit' in [[source]] must be a number, found a string; leave out "
            "the quotes");
  EXPECT_EQ(refused("[]"),
            "t.toml:5:14: 'rate_limit' in [[source]] must be a number, found a list");
}

TEST(ConfigSourceHandlersTest, MustBeDefined) {
  EXPECT_EQ(fault_of(a_stripe_source("handlers = [\"payment\"]\n" + std::string{kPaymentsHandler})),
            "t.toml:5:13: 'handlers' in [[source]] names \"payment\", but there is no such "
            "[[handler]]; did you mean \"payments\"?");
  EXPECT_EQ(fault_of(a_stripe_source("handlers = [\"payments\"]\n")),
            "t.toml:5:13: 'handlers' in [[source]] names \"payments\", but there is no such "
            "[[handler]]");
}

TEST(ConfigSourceHandlersTest, MayNotNameOneTwice) {
  EXPECT_EQ(fault_of(a_stripe_source("handlers = [\"payments\", \"payments\"]\n" +
                                     std::string{kPaymentsHandler})),
            "t.toml:5:25: 'handlers' in [[source]] names \"payments\" twice");
}

TEST(ConfigSourceHandlersTest, MayBeDefinedBeforeOrAfterTheSource) {
  const std::string source = a_stripe_source("handlers = [\"payments\"]\n");
  const std::string handler{kPaymentsHandler};
  EXPECT_EQ(fault_of(source + handler), kAccepted);
  EXPECT_EQ(fault_of(handler + source), kAccepted);
}

TEST(ConfigHandlerTest, NeedsAKind) {
  EXPECT_EQ(fault_of("[[handler]]\nname = \"a\"\n"),
            "t.toml:1:1: [[handler]] has no 'kind'; there are \"forward\", \"payments\", \"sql\"");
}

TEST(ConfigHandlerTest, HasASuggestionForAMisspeltKind) {
  EXPECT_EQ(fault_of("[[handler]]\nname = \"a\"\nkind = \"payment\"\n"),
            "t.toml:3:8: 'kind' in [[handler]] is \"payment\", which is unknown; did you mean "
            "\"payments\"?");
}

TEST(ConfigHandlerTest, CapturesByHandOrAtOnce) {
  const std::string handler{kPaymentsHandler};
  const auto capture_of = [](const std::string& text) {
    return parse_config(text, "t.toml").handlers.at(0).capture;
  };
  EXPECT_EQ(capture_of(handler), "manual");
  EXPECT_EQ(capture_of(handler + "capture = \"manual\"\n"), "manual");
  EXPECT_EQ(capture_of(handler + "capture = \"immediate\"\n"), "immediate");
  EXPECT_EQ(fault_of(handler + "capture = \"automatic\"\n"),
            "t.toml:4:11: 'capture' in [[handler]] is \"automatic\", which is unknown; there are "
            "\"immediate\", \"manual\"");
}

TEST(ConfigWarningTest, TellsThatAdyenItemsNeedBasicAuth) {
  const std::string handlers = "handlers = [\"payments\"]\n" + std::string{kPaymentsHandler};
  EXPECT_THAT(parse_config("\n" + an_adyen_source(handlers), "t.toml").warnings,
              ElementsAre("t.toml:2:1: source \"adyen\" has no 'basic_auth'; Adyen does not sign "
                          "fields such as reason and disputeStatus, so whoever replays a "
                          "notification can alter them"));
}

TEST(ConfigWarningTest, DoesNotComeWithBasicAuthOrWithASignedBody) {
  const std::string handlers = "handlers = [\"payments\"]\n" + std::string{kPaymentsHandler};
  EXPECT_THAT(
      parse_config(an_adyen_source("basic_auth = { user = \"u\", password = \"p\" }\n" + handlers),
                   "t.toml")
          .warnings,
      IsEmpty());
  EXPECT_THAT(parse_config(an_adyen_source("scheme = \"header\"\n" + handlers), "t.toml").warnings,
              IsEmpty());
  EXPECT_THAT(parse_config(a_stripe_source(handlers), "t.toml").warnings, IsEmpty());
}

TEST(ConfigWarningTest, TellsThatNothingHandlesTheEvents) {
  EXPECT_THAT(parse_config(a_stripe_source("handlers = []\n"), "t.toml").warnings,
              ElementsAre("t.toml:1:1: source \"stripe\" has no 'handlers'; its events are only "
                          "stored"));
}

}  // namespace
}  // namespace hookgate
