#include "domain/verdict.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

constexpr RejectReason kReasons[] = {
    RejectReason::kSignatureMissing,   RejectReason::kSignatureMalformed,
    RejectReason::kSignatureMismatch,  RejectReason::kTimestampMalformed,
    RejectReason::kTimestampTooOld,    RejectReason::kTimestampInFuture,
    RejectReason::kBodyUnreadable,     RejectReason::kCredentialsMissing,
    RejectReason::kCredentialsMismatch};

TEST(VerdictTest, GivesEveryReasonACodeOfItsOwn) {
  std::set<std::string_view> codes;
  for (const auto reason : kReasons) codes.insert(reason_code(reason));
  EXPECT_EQ(codes.size(), std::size(kReasons));
  EXPECT_FALSE(codes.contains("unknown"));
}

TEST(VerdictTest, Answers400WhereTheRequestCannotBeJudged) {
  EXPECT_EQ(http_status(RejectReason::kSignatureMalformed), 400);
  EXPECT_EQ(http_status(RejectReason::kTimestampMalformed), 400);
  EXPECT_EQ(http_status(RejectReason::kBodyUnreadable), 400);
}

TEST(VerdictTest, Answers401WhereItWasJudgedAndRefused) {
  EXPECT_EQ(http_status(RejectReason::kSignatureMissing), 401);
  EXPECT_EQ(http_status(RejectReason::kSignatureMismatch), 401);
  EXPECT_EQ(http_status(RejectReason::kTimestampTooOld), 401);
  EXPECT_EQ(http_status(RejectReason::kTimestampInFuture), 401);
  EXPECT_EQ(http_status(RejectReason::kCredentialsMismatch), 401);
}

}  // namespace
}  // namespace hookgate
