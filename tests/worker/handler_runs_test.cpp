#include "worker/handler_runs.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace hookgate {
namespace {

class NoSql final : public SqlTransaction {
 public:
  using SqlTransaction::execute;
  SqlResult execute(std::string_view, std::span<const SqlValue>) override { return {}; }
};

class SayingHandler final : public Handler {
 public:
  explicit SayingHandler(Outcome outcome) : outcome_(std::move(outcome)) {}
  std::string_view name() const override { return "h"; }
  Outcome handle(const Event&, HandlerContext&) override { return outcome_; }

 private:
  Outcome outcome_;
};

class ThrowingHandler final : public Handler {
 public:
  std::string_view name() const override { return "h"; }
  Outcome handle(const Event&, HandlerContext&) override { throw std::runtime_error("no"); }
};

class HandlerRunsTest : public ::testing::Test {
 protected:
  void run(HandlerRuns& runs, Handler& handler) { runs.run(handler, event_, context_); }
  bool counted(const std::string& outcome, int times) const {
    return metrics_.text().find("hookgate_handler_runs_total{handler=\"h\",outcome=\"" + outcome +
                                "\"} " + std::to_string(times) + "\n") != std::string::npos;
  }

  Metrics metrics_;

 private:
  Event event_;
  NoSql sql_;
  HandlerContext context_{sql_, system_now()};
};

TEST_F(HandlerRunsTest, CountWhatAHandlerSaidOnceItIsCommitted) {
  SayingHandler done{Done{}};
  SayingHandler ignored{Ignored{}};
  SayingHandler retry{RetryLater{"later"}};
  SayingHandler gave_up{GiveUp{"never"}};
  {
    HandlerRuns runs{&metrics_};
    for (auto* handler : {&done, &ignored, &retry, &gave_up, &done}) run(runs, *handler);
    runs.committed();
    EXPECT_FALSE(counted("done", 2)) << "counted before its transaction ended";
  }
  EXPECT_TRUE(counted("done", 2));
  EXPECT_TRUE(counted("ignored", 1));
  EXPECT_TRUE(counted("retry", 1));
  EXPECT_TRUE(counted("gave_up", 1));
  EXPECT_TRUE(counted("undone", 0));
}

TEST_F(HandlerRunsTest, CountWhatWasRolledBackAsUndone) {
  SayingHandler done{Done{}};
  {
    HandlerRuns runs{&metrics_};
    run(runs, done);
  }
  EXPECT_TRUE(counted("undone", 1));
  EXPECT_TRUE(counted("done", 0));
}

TEST_F(HandlerRunsTest, CountAnEscapedExceptionAsAnErrorWhenItIsTheHandlersOwn) {
  ThrowingHandler throwing;
  {
    HandlerRuns runs{&metrics_};
    EXPECT_THROW(run(runs, throwing), std::runtime_error);
    runs.failed();
    EXPECT_THROW(run(runs, throwing), std::runtime_error);  // a deadlock, to be run again
    runs.committed();
  }
  EXPECT_TRUE(counted("error", 1));
  EXPECT_TRUE(counted("undone", 1));
}

}  // namespace
}  // namespace hookgate
