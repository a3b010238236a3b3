#include "handlers/sql/named_statement.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hookgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kNames{"a", "b", "order_id"};

NamedStatement compiled(std::string_view sql) {
  auto result = compile_statement(sql, kNames);
  const auto* const fault = std::get_if<StatementFault>(&result);
  EXPECT_EQ(fault, nullptr) << fault->message;
  return fault == nullptr ? std::get<NamedStatement>(result) : NamedStatement{};
}

std::string text_of(std::string_view sql) {
  return compiled(sql).text;
}

std::string fault_of(std::string_view sql) {
  const auto result = compile_statement(sql, kNames);
  const auto* const fault = std::get_if<StatementFault>(&result);
  return fault == nullptr ? "" : fault->message;
}

TEST(NamedStatementTest, NumbersParametersByTheirFirstUse) {
  const auto statement = compiled("UPDATE t SET x = :b, y = :a WHERE z = :b::bigint");
  EXPECT_EQ(statement.text, "UPDATE t SET x = $1, y = $2 WHERE z = $1::bigint");
  EXPECT_THAT(statement.parameters, ElementsAre(1, 0));
}

TEST(NamedStatementTest, TakesTheLongestName) {
  EXPECT_EQ(text_of("SELECT :order_id+1"), "SELECT $1+1");
  EXPECT_THAT(fault_of("SELECT :order_id2"), HasSubstr("':order_id2'"));
}

TEST(NamedStatementTest, LeavesWhatOnlyLooksLikeAParameter) {
  for (const auto* const sql :
       {"SELECT ':a'", "SELECT 'it''s :a'", "SELECT E'\\':a'", "SELECT \":a\"",
        "SELECT \"x\"\":a\"", "SELECT $$ :a $$", "SELECT $t$ :a $$ :b $t$", "SELECT 1 -- :a\n",
        "SELECT /* :a */ 1", "SELECT /* /* :a */ :b */ 1", "SELECT '1'::text", "SELECT f(x := 1)",
        "SELECT v[1:2]", "SELECT v[ : ]", "SELECT a$1 FROM t", "SELECT U&':a'",
        "SELECT name'\\' FROM t", "SELECT '\xC3\xA9 :a'"}) {
    const auto statement = compiled(sql);
    EXPECT_EQ(statement.text, sql);
    EXPECT_THAT(statement.parameters, IsEmpty()) << sql;
  }
}

// The quote after an escape string's backslash does not end it, that of a plain one does.
TEST(NamedStatementTest, KnowsEscapeStringsFromPlainOnes) {
  EXPECT_EQ(text_of("SELECT '\\', :a"), "SELECT '\\', $1");
  EXPECT_EQ(text_of("SELECT e'\\', :a'"), "SELECT e'\\', :a'");
}

TEST(NamedStatementTest, RefusesANameThatIsNotThere) {
  EXPECT_EQ(fault_of("SELECT :c"), "uses ':c', which 'params' does not name");
}

TEST(NamedStatementTest, RefusesNumberedParameters) {
  EXPECT_THAT(fault_of("SELECT $1"), HasSubstr("':name'"));
}

TEST(NamedStatementTest, RefusesWhatCouldEndTheTransaction) {
  for (const auto* const sql : {"COMMIT", "rollback", "BEGIN", "SET x = 1", "CALL p()", "DO $$ $$",
                                "DROP TABLE t", "TRUNCATE t", "PREPARE x AS SELECT 1",
                                "-- SELECT\nCOMMIT", "/* SELECT */ ABORT", "'SELECT'", "(COMMIT)"})
    EXPECT_THAT(fault_of(sql), HasSubstr("must begin with INSERT")) << sql;
}

TEST(NamedStatementTest, RefusesASecondStatement) {
  EXPECT_THAT(fault_of("SELECT 1; COMMIT"), HasSubstr("more than one statement"));
  EXPECT_THAT(fault_of("SELECT 1; 'x'"), HasSubstr("more than one statement"));
  EXPECT_EQ(text_of("select 1 ; -- the end\n ; "), "select 1  -- the end\n  ");
  EXPECT_EQ(text_of("SELECT ';'"), "SELECT ';'");
}

TEST(NamedStatementTest, RefusesWhatIsNotClosed) {
  EXPECT_THAT(fault_of("SELECT ':a"), HasSubstr("not closed"));
  EXPECT_THAT(fault_of("SELECT \"a"), HasSubstr("not closed"));
  EXPECT_THAT(fault_of("SELECT /* /* */"), HasSubstr("not closed"));
  EXPECT_THAT(fault_of("SELECT $x$ $$"), HasSubstr("not closed"));
  EXPECT_THAT(fault_of("SELECT E'\\'"), HasSubstr("not closed"));
}

TEST(NamedStatementTest, RefusesNothingAtAll) {
  EXPECT_EQ(fault_of(""), "holds no statement");
  EXPECT_EQ(fault_of(" ; -- x"), "holds no statement");
}

}  // namespace
}  // namespace hookgate
