#include "cli/replay_report.h"

#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace hookgate {
namespace {

using ::testing::HasSubstr;

ReplayReport report_with(std::initializer_list<ReplayOutcome> outcomes) {
  ReplayReport report;
  for (const auto outcome : outcomes) report.count("stripe", outcome);
  report.planned = outcomes.size();
  return report;
}

std::string printed(const ReplayReport& report, bool as_json) {
  std::ostringstream out;
  print_replay(report, as_json, out);
  return out.str();
}

TEST(ReplayReportTest, IsDoneWhenAllWasTaken) {
  EXPECT_EQ(replay_exit_code(report_with(
                {ReplayOutcome::kAccepted, ReplayOutcome::kDuplicate, ReplayOutcome::kConflict})),
            0);
}

TEST(ReplayReportTest, FailsWhenOneWasRejectedOrFailed) {
  EXPECT_EQ(replay_exit_code(report_with({ReplayOutcome::kAccepted, ReplayOutcome::kRejected})), 1);
  EXPECT_EQ(replay_exit_code(report_with({ReplayOutcome::kAccepted, ReplayOutcome::kFailed})), 1);
}

TEST(ReplayReportTest, FailsWhenItWasStopped) {
  auto report = report_with({ReplayOutcome::kAccepted});
  report.planned = 2;
  EXPECT_EQ(replay_exit_code(report), 1);
  EXPECT_THAT(printed(report, false), HasSubstr("stopped after 1 of 2 requests"));
}

TEST(ReplayReportTest, IsUnreachableOnlyWhenNothingConnected) {
  auto report = report_with({ReplayOutcome::kFailed, ReplayOutcome::kFailed});
  report.not_connected = 1;
  EXPECT_EQ(replay_exit_code(report), 1);
  report.not_connected = 2;
  EXPECT_EQ(replay_exit_code(report), 3);
}

TEST(ReplayReportTest, PrintsAnAlignedTableWithATotal) {
  auto report = report_with({ReplayOutcome::kAccepted, ReplayOutcome::kDuplicate});
  report.count("adyen", ReplayOutcome::kRejected);
  report.planned = 3;
  report.errors = {"a.http: 401 signature-mismatch"};
  EXPECT_EQ(printed(report, false),
            "source  sent  accepted  duplicate  conflict  rejected  failed\n"
            "adyen      1         0          0         0         1       0\n"
            "stripe     2         1          1         0         0       0\n"
            "total      3         1          1         0         1       0\n"
            "\nfirst errors:\n  a.http: 401 signature-mismatch\n");
}

TEST(ReplayReportTest, PrintsOneJsonObjectOnOneLine) {
  auto report = report_with({ReplayOutcome::kConflict});
  report.errors = {"broken \xFF text"};
  const auto text = printed(report, true);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["sources"]["stripe"]["conflict"], 1);
  EXPECT_EQ(json["total"]["sent"], 1);
  EXPECT_EQ(json["errors"].size(), 1U);
}

}  // namespace
}  // namespace hookgate
