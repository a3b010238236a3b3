#include "config_sql_handler.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_test_support.h"

namespace hookgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kHead = "[[handler]]\nname = \"h\"\nkind = \"sql\"\n";
constexpr std::string_view kStatement = "statement = \"SELECT :a::text\"\n";

Config read(const std::string& lines) {
  return parse_config(std::string{kHead} + lines, "t.toml");
}

std::string fault(const std::string& lines) {
  try {
    read(lines);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ConfigSqlHandlerTest, ReadsEveryKey) {
  const auto config = read(
      "events = [\"charge.*\"]\nparams = { a = \"/x/0\", who = \"@scope\" }\n"
      "required = [\"a\"]\nstatement = [\"SELECT :a\", \"SELECT :who\"]\nanswer = 201\n");
  const auto& handler = config.handlers.at(0);
  EXPECT_THAT(handler.events, ElementsAre("charge.*"));
  EXPECT_EQ(handler.sql.answer, 201);
  ASSERT_EQ(handler.sql.parameters.size(), 2U);
  EXPECT_TRUE(handler.sql.parameters[0].is_required);
  EXPECT_FALSE(handler.sql.parameters[1].is_required);
  EXPECT_EQ(std::get<EventField>(handler.sql.parameters[1].value), EventField::kScope);
  ASSERT_EQ(handler.sql.statements.size(), 2U);
  EXPECT_EQ(handler.sql.statements[1].statement.text, "SELECT $1");
  EXPECT_EQ(handler.sql.statements[1].place, "t.toml:7:27: ");
}

TEST(ConfigSqlHandlerTest, NeedsAStatement) {
  EXPECT_EQ(fault(""), "t.toml:1:1: [[handler]] has no 'statement'");
  EXPECT_THAT(fault("statement = []\n"),
              HasSubstr("t.toml:4:13: 'statement' in [[handler]] is empty"));
}

TEST(ConfigSqlHandlerTest, RefusesAParameterThatIsNotNamed) {
  EXPECT_EQ(fault("params = { b = \"/x\" }\n" + std::string{kStatement}),
            "t.toml:5:13: 'statement' in [[handler]] uses ':a', which 'params' does not name");
}

TEST(ConfigSqlHandlerTest, RefusesWhatIsNoPointerAndNoField) {
  EXPECT_THAT(fault("params = { a = \"x\" }\n" + std::string{kStatement}),
              HasSubstr("t.toml:4:16: 'a' in params of [[handler]] is \"x\", which is neither"));
  EXPECT_THAT(fault("params = { a = \"@Scope\" }\n" + std::string{kStatement}),
              HasSubstr("there are @source, @scope, @event_id, @type and @subject"));
  EXPECT_THAT(fault("params = { \"a-b\" = \"/x\" }\n" + std::string{kStatement}),
              HasSubstr("t.toml:4:12: 'params' in [[handler]] names \"a-b\""));
  EXPECT_THAT(fault("params = { a = 1 }\n" + std::string{kStatement}), HasSubstr("t.toml:4:16: "));
}

TEST(ConfigSqlHandlerTest, RefusesARequiredThatIsNoParameter) {
  EXPECT_EQ(fault("params = { a = \"/x\" }\nrequired = [\"b\"]\n" + std::string{kStatement}),
            "t.toml:5:13: 'required' in [[handler]] names \"b\", which 'params' does not have; did "
            "you mean \"a\"?");
}

TEST(ConfigSqlHandlerTest, RefusesAnAnswerThatIsNoSuccess) {
  const std::string lines = "params = { a = \"/x\" }\n" + std::string{kStatement};
  EXPECT_THAT(fault(lines + "answer = 199\n"), HasSubstr("t.toml:6:10: 'answer'"));
  EXPECT_THAT(fault(lines + "answer = 300\n"), HasSubstr("t.toml:6:10: 'answer'"));
}

TEST(ConfigSqlHandlerTest, WarnsOfAParameterThatNoStatementUses) {
  const auto config = read("params = { a = \"/x\", b = \"/y\" }\n" + std::string{kStatement});
  EXPECT_THAT(config.warnings, ElementsAre("t.toml:4:22: no statement uses ':b'"));
}

TEST(ConfigSqlHandlerTest, KeysOfOneKindAreRefusedForAnother) {
  EXPECT_EQ(fault("capture = \"manual\"\n" + std::string{kStatement}),
            "t.toml:4:1: 'capture' in [[handler]] is only for the kind \"payments\"");
  try {
    parse_config("[[handler]]\nname = \"p\"\nkind = \"payments\"\nanswer = 201\n", "t.toml");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "t.toml:4:1: 'answer' in [[handler]] is only for the kind \"sql\"");
  }
}

TEST(ConfigSqlHandlerTest, RefusesAnEmptyListOfGlobs) {
  EXPECT_THAT(fault("events = []\nstatement = \"SELECT 1\"\n"), HasSubstr("t.toml:4:10: 'events'"));
}

}  // namespace
}  // namespace hookgate
