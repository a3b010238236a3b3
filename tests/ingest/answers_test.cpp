#include "ingest/answers.h"

#include <gtest/gtest.h>

namespace hookgate {
namespace {

bool has_header(const Answer& answer, const std::string& name) {
  for (const auto& header : answer.headers) {
    if (header.name == name) return true;
  }
  return false;
}

constexpr auto kNew = StoreResult::kAccepted;
constexpr auto kHad = StoreResult::kDuplicate;

TEST(StoredAnswerTest, IsAcceptedWhenAnyEventIsNew) {
  const auto answer = stored_answer("", {"a", "b"}, {kHad, kNew});
  EXPECT_EQ(
      answer.body,
      R"({"status":"accepted","events":[{"id":"a","status":"duplicate"},{"id":"b","status":"accepted"}]})");
  EXPECT_FALSE(has_header(answer, "Idempotent-Replayed"));
}

TEST(StoredAnswerTest, IsAReplayWhenAllWereKnown) {
  EXPECT_TRUE(
      has_header(stored_answer("[accepted]", {"a", "b"}, {kHad, kHad}), "Idempotent-Replayed"));
}

TEST(StoredAnswerTest, IsNoReplayWhenSomethingContradicts) {
  const auto answer = stored_answer("", {"a"}, {StoreResult::kConflict});
  EXPECT_EQ(answer.body, R"({"status":"conflict","events":[{"id":"a","status":"conflict"}]})");
  EXPECT_FALSE(has_header(answer, "Idempotent-Replayed"));
}

TEST(StoredAnswerTest, EscapesTheSendersId) {
  EXPECT_EQ(stored_answer("", {"a\"b\n"}, {kNew}).body,
            R"({"status":"accepted","events":[{"id":"a\"b\u000a","status":"accepted"}]})");
}

TEST(RejectionAnswerTest, TellsTheReasonAndNothingElse) {
  const auto answer = rejection_answer(RejectReason::kSignatureMismatch, "Bearer");
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.body, R"({"type":"about:blank","title":"signature-mismatch","status":401})");
}

TEST(UnavailableAnswerTest, SaysWhenToComeAgain) {
  const auto answer = unavailable_answer(std::chrono::seconds{3});
  EXPECT_EQ(answer.status, 503);
  EXPECT_TRUE(has_header(answer, "Retry-After"));
}

}  // namespace
}  // namespace hookgate
