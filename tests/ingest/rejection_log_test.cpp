#include "ingest/rejection_log.h"

#include <atomic>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr RejectionLog::Time kStart{std::chrono::hours{1'000}};

class RejectionLogTest : public testing::Test {
 protected:
  void refuse(RejectionLog::Time now, std::string_view source = "stripe",
              std::string_view reason = "signature-mismatch", int times = 1) {
    for (int i = 0; i < times; ++i)
      log_.add({.source = source,
                .reason = reason,
                .detail = "no secret matches",
                .remote = "203.0.113.7",
                .body_bytes = 17},
               now);
  }
  // What was written since the last call.
  std::vector<std::string> lines() { return std::exchange(lines_, {}); }
  RejectionLog& log() { return log_; }

 private:
  std::vector<std::string> lines_;
  RejectionLog log_{[this](std::string_view message, std::initializer_list<LogField> fields) {
    std::string line{message};
    for (const auto& field : fields) line += " " + std::string{field.key} + "=" + field.value;
    lines_.push_back(line);
  }};
};

TEST_F(RejectionLogTest, WritesWhatALineNeeds) {
  refuse(kStart);
  EXPECT_THAT(lines(), ElementsAre("request refused source=stripe reason=signature-mismatch "
                                   "detail=\"no secret matches\" remote=203.0.113.7 bytes=17"));
}

TEST_F(RejectionLogTest, WritesTheFirstFiveOfAFlood) {
  refuse(kStart, "stripe", "signature-mismatch", 1'000);
  EXPECT_THAT(lines(), SizeIs(5));
  refuse(kStart + milliseconds{9'999});
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(RejectionLogTest, TellsTheNumberLeftOutOnceTheWindowIsOver) {
  refuse(kStart, "stripe", "signature-mismatch", 1'000);
  lines();
  refuse(kStart + seconds{10});
  EXPECT_THAT(lines(), ElementsAre("more requests refused source=stripe reason=signature-mismatch "
                                   "left_out=995",
                                   StartsWith("request refused")));
  refuse(kStart + seconds{10}, "stripe", "signature-mismatch", 10);
  EXPECT_THAT(lines(), SizeIs(4));  // a new window, of which one was used
}

TEST_F(RejectionLogTest, TellsItWithTheNextRefusalOfAnyKind) {
  refuse(kStart, "stripe", "signature-mismatch", 7);
  refuse(kStart + seconds{5}, "adyen", "signature-mismatch", 6);
  lines();
  refuse(kStart + seconds{10}, "adyen", "body-unreadable");
  EXPECT_THAT(lines(), ElementsAre("more requests refused source=stripe reason=signature-mismatch "
                                   "left_out=2",
                                   StartsWith("request refused")));
  refuse(kStart + seconds{15}, "adyen", "body-unreadable");
  EXPECT_THAT(lines(), ElementsAre("more requests refused source=adyen reason=signature-mismatch "
                                   "left_out=1",
                                   StartsWith("request refused")));
}

TEST_F(RejectionLogTest, SaysNothingOfAWindowThatLeftNothingOut) {
  refuse(kStart, "stripe", "signature-mismatch", 5);
  lines();
  refuse(kStart + seconds{10});
  EXPECT_THAT(lines(), ElementsAre(StartsWith("request refused")));
}

TEST_F(RejectionLogTest, KeepsSourcesAndReasonsApart) {
  refuse(kStart, "stripe", "signature-mismatch", 5);
  lines();
  refuse(kStart, "stripe", "signature-missing");
  refuse(kStart, "adyen", "signature-mismatch");
  EXPECT_THAT(lines(), SizeIs(2));
}

TEST_F(RejectionLogTest, TellsWhatIsOpenWhenFlushed) {
  refuse(kStart, "stripe", "signature-mismatch", 8);
  refuse(kStart, "adyen", "signature-mismatch", 9);
  refuse(kStart, "standard", "signature-mismatch", 1);
  lines();
  log().flush();
  EXPECT_THAT(lines(),
              UnorderedElementsAre(
                  "more requests refused source=stripe reason=signature-mismatch left_out=3",
                  "more requests refused source=adyen reason=signature-mismatch left_out=4"));
  log().flush();
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(RejectionLogTest, TellsOnlySoManyKindsApart) {
  for (std::size_t i = 0; i < RejectionLog::kKeysMax; ++i)
    refuse(kStart, "source" + std::to_string(i));
  EXPECT_THAT(lines(), SizeIs(RejectionLog::kKeysMax));
  for (int i = 0; i < 20; ++i) refuse(kStart, "another" + std::to_string(i));
  EXPECT_THAT(lines(), SizeIs(RejectionLog::kFullMax));
  refuse(kStart + seconds{10});  // all are over, and forgotten
  lines();
  for (int i = 0; i < 20; ++i) refuse(kStart + seconds{10}, "another" + std::to_string(i));
  EXPECT_THAT(lines(), SizeIs(20));
}

TEST(RejectionLogThreadsTest, CountsEveryRefusalOnce) {
  std::atomic<int> in_full = 0;
  std::string left_out;
  RejectionLog log{[&](std::string_view message, std::initializer_list<LogField> fields) {
    if (message == "request refused")
      ++in_full;
    else
      left_out = std::prev(fields.end())->value;
  }};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&log] {
      for (int j = 0; j < 1'000; ++j) log.add({.source = "a", .reason = "b"}, kStart);
    });
  }
  for (auto& thread : threads) thread.join();
  log.flush();
  EXPECT_EQ(in_full, 5);
  EXPECT_EQ(left_out, "3995");
}

}  // namespace
}  // namespace hookgate
