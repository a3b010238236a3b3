#include "cli/progress.h"

#include <sstream>

#include <gmock/gmock.h>

namespace hookgate {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class ProgressTest : public ::testing::Test {
 protected:
  Progress progress(bool is_terminal, std::uint64_t total = 200) {
    return Progress{out_, is_terminal, "replay", total, [this] { return now_; }};
  }
  void advance(std::chrono::milliseconds by) { now_ += by; }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
  std::chrono::steady_clock::time_point now_{};
};

TEST_F(ProgressTest, PrintsAPlainLineAtEachInterval) {
  auto shown = progress(false);
  advance(5s);
  shown.update(50);
  advance(5s);
  shown.update(100);
  shown.finish();
  EXPECT_EQ(text(), "replay: 50 of 200 (25 %), 10/s\nreplay: 100 of 200 (50 %), 10/s\n");
}

TEST_F(ProgressTest, PrintsNothingWithinTheFirstInterval) {
  auto shown = progress(false);
  advance(4999ms);
  shown.update(199);
  shown.finish();
  EXPECT_EQ(text(), "");
}

TEST_F(ProgressTest, DrawsABarOnATerminalAndTakesItOff) {
  auto shown = progress(true, 60);
  advance(100ms);
  shown.update(30);
  EXPECT_THAT(text(), HasSubstr("\r\x1b[Kreplay [" + std::string(15, '#') + std::string(15, ' ') +
                                "] 30 of 60"));
  shown.finish();
  EXPECT_THAT(text(), EndsWith("\r\x1b[K"));
}

TEST_F(ProgressTest, RedrawsTheBarAtMostOncePerInterval) {
  auto shown = progress(true);
  advance(100ms);
  shown.update(1);
  const auto once = text();
  advance(99ms);
  shown.update(2);
  EXPECT_EQ(text(), once);
}

TEST_F(ProgressTest, PassesOverAnOlderFigure) {
  auto shown = progress(false);
  shown.update(100);
  advance(5s);
  shown.update(99);
  EXPECT_EQ(text(), "");
}

TEST_F(ProgressTest, ShowsTheCountAloneWhenTheTotalIsUnknown) {
  auto shown = progress(false, 0);
  advance(5s);
  shown.update(50);
  EXPECT_EQ(text(), "replay: 50, 10/s\n");
}

TEST_F(ProgressTest, ShowsAShareThatIsNotOfTheCount) {
  auto shown = progress(false, 0);
  advance(5s);
  shown.update(50, 0.25);
  EXPECT_EQ(text(), "replay: 50 (25 %), 10/s\n");
}

}  // namespace
}  // namespace hookgate
