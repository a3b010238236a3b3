#include "config_schema.h"

#include <gtest/gtest.h>

#include "config_test_support.h"

namespace hookgate {
namespace {

TEST(ConfigSchemaTest, SuggestsTheKeyThatWasMeant) {
  EXPECT_EQ(fault_of("[[source]]\nname = \"stripe\"\n  secret = [\"a\"]\n"),
            "t.toml:3:3: unknown key 'secret' in [[source]]; did you mean 'secrets'?");
}

TEST(ConfigSchemaTest, SaysNothingMoreOfAKeyThatResemblesNone) {
  EXPECT_EQ(fault_of("[server]\nfrobnicate = 1\n"),
            "t.toml:2:1: unknown key 'frobnicate' in [server]");
}

TEST(ConfigSchemaTest, NamesTheSectionAKeyBelongsTo) {
  EXPECT_EQ(fault_of("[server]\ncount = 3\n"),
            "t.toml:2:1: unknown key 'count' in [server]; it belongs in [workers]");
  EXPECT_EQ(fault_of("token = \"a\"\n"),
            "t.toml:1:1: unknown key 'token' outside any section; it belongs in [admin]");
}

TEST(ConfigSchemaTest, DoesNotGuessWhenTwoSectionsHaveTheKey) {
  EXPECT_EQ(fault_of("listen = \"127.0.0.1:1\"\n"),
            "t.toml:1:1: unknown key 'listen' outside any section");
}

TEST(ConfigSchemaTest, SuggestsTheSectionThatWasMeant) {
  EXPECT_EQ(fault_of("[sever]\n"), "t.toml:1:2: unknown section [sever]; did you mean [server]?");
  EXPECT_EQ(fault_of("[[sources]]\n"),
            "t.toml:1:3: unknown section [[sources]]; did you mean [[source]]?");
  EXPECT_EQ(fault_of("[logging]\n"), "t.toml:1:2: unknown section [logging]");
}

TEST(ConfigSchemaTest, ChecksEveryBlockOfASection) {
  EXPECT_EQ(fault_of(a_stripe_source("[[source]]\nname = \"b\"\nprovder = \"stripe\"\n")),
            "t.toml:7:1: unknown key 'provder' in [[source]]; did you mean 'provider'?");
}

TEST(ConfigSchemaTest, RefusesABlockWrittenAsASection) {
  EXPECT_EQ(fault_of("[source]\nname = \"stripe\"\n"),
            "t.toml:1:2: 'source' is a section of the form [[source]]; write its header so");
}

TEST(ConfigSchemaTest, RefusesASectionWrittenAsABlock) {
  EXPECT_EQ(fault_of("[[server]]\n"),
            "t.toml:1:3: 'server' is a section of the form [server]; write its header so");
}

TEST(ConfigSchemaTest, RefusesAValueInPlaceOfASection) {
  EXPECT_EQ(fault_of("server = \"0.0.0.0:1\"\n"),
            "t.toml:1:1: 'server' must be the section [server], found a string");
  EXPECT_EQ(fault_of("source = [1]\n"),
            "t.toml:1:1: 'source' must be the section [[source]], found a list");
}

struct LaterCase {
  std::string_view line;
  std::string_view fault;
};

class LaterTest : public testing::TestWithParam<LaterCase> {};

using LaterSourceKeyTest = LaterTest;
TEST_P(LaterSourceKeyTest, IsRefusedAndNotIgnored) {
  EXPECT_EQ(fault_of(a_stripe_source(GetParam().line)), GetParam().fault);
}
INSTANTIATE_TEST_SUITE_P(All, LaterSourceKeyTest,
                         testing::Values(LaterCase{
                             "url = \"https://gateway.test\"",
                             "t.toml:5:1: 'url' in [[source]] is not available yet"}));

using LaterHandlerKeyTest = LaterTest;
TEST_P(LaterHandlerKeyTest, IsRefusedAndNotIgnored) {
  EXPECT_EQ(
      fault_of("[[handler]]\nname = \"payments\"\nkind = \"payments\"\n" +
               std::string{GetParam().line} + "\n"),
      "t.toml:4:1: '" + std::string{GetParam().fault} + "' in [[handler]] is not available yet");
}
INSTANTIATE_TEST_SUITE_P(All, LaterHandlerKeyTest,
                         testing::Values(LaterCase{"exchange = \"a\"", "exchange"}));

TEST(LaterSectionTest, IsRefusedAndNotIgnored) {
  EXPECT_EQ(fault_of("[capture]\ndirectory = \"captured\"\n"),
            "t.toml:1:1: [capture] is not available yet");
  EXPECT_EQ(fault_of("\n  [[provider]]\nname = \"acme\"\n"),
            "t.toml:2:3: [[provider]] is not available yet");
}

TEST(LaterNameTest, OfAProviderIsToldFromAnUnknownOne) {
  EXPECT_EQ(fault_of("[[source]]\nname = \"a\"\nprovider = \"github\"\n"),
            "t.toml:3:12: 'provider' in [[source]] is \"github\", which is not available yet; "
            "there are \"adyen\", \"idempotency-key\", \"standard-webhooks\", \"stripe\"");
}

TEST(LaterNameTest, OfAProviderComesBeforeTheKeysOnlyThatProviderHas) {
  EXPECT_EQ(fault_of("[[source]]\nname = \"orders\"\nclients = []\nprovider = "
                     "\"square\"\nrespond = \"a\"\n"),
            "t.toml:4:12: 'provider' in [[source]] is \"square\", which is not available "
            "yet; there are \"adyen\", \"idempotency-key\", \"standard-webhooks\", \"stripe\"");
}

TEST(LaterNameTest, OfAHandlerKindIsToldFromAnUnknownOne) {
  EXPECT_EQ(fault_of("[[handler]]\nname = \"bus\"\nkind = \"amqp\"\nexchange = \"payments\"\n"),
            "t.toml:3:8: 'kind' in [[handler]] is \"amqp\", which is not available yet; there "
            "are \"forward\", \"payments\", \"sql\"");
}

}  // namespace
}  // namespace hookgate
