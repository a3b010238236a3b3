#include "simulation.h"

#include <cstdlib>
#include <limits>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace hookgate {
namespace {

constexpr std::uint64_t kSchedules = 10'000;

// HOOKGATE_SIMULATION_SEED=N runs that schedule alone; HOOKGATE_SIMULATION_SCHEDULES=N so many.
std::optional<std::uint64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  return std::stoull(text);
}

class SimulationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Every dead event of every schedule is told to the log.
    stderr_ = ::dup(STDERR_FILENO);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
  }
  void TearDown() override {
    ::dup2(stderr_, STDERR_FILENO);
    ::close(stderr_);
  }

  // The first schedule that breaks a promise, and how; "" for none.
  static std::string first_violation(const SimulationSettings& settings, std::uint64_t first,
                                     std::uint64_t count) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      try {
        simulate(seed, settings);
      } catch (const Violation& violation) {
        return "HOOKGATE_SIMULATION_SEED=" + std::to_string(seed) + ": " + violation.what;
      }
    }
    return "";
  }

 private:
  int stderr_ = -1;
};

TEST_F(SimulationTest, KeepsItsPromisesInEverySchedule) {
  const auto seed = number_in("HOOKGATE_SIMULATION_SEED");
  const auto count = number_in("HOOKGATE_SIMULATION_SCHEDULES").value_or(kSchedules);
  EXPECT_EQ(first_violation({}, seed.value_or(1), seed ? 1 : count), "");
}

// The simulation is worth something only if it misses what is taken away.
class BrokenSimulationTest : public SimulationTest {
 protected:
  static std::string find(const SimulationSettings& settings) {
    return first_violation(settings, 1, kSchedules);
  }
};

TEST_F(BrokenSimulationTest, MissesTheTokenCheck) {
  EXPECT_NE(find({.broken = {.token_is_not_checked = true}, .crashes_max = 8}), "");
}
TEST_F(BrokenSimulationTest, MissesTheRollback) {
  EXPECT_NE(find({.broken = {.rollback_keeps_effects = true}, .crashes_max = 8}), "");
}
TEST_F(BrokenSimulationTest, MissesTheCountOfCrashes) {
  EXPECT_NE(find({.broken = {.crashes_are_not_counted = true}, .crashes_max = 8}), "");
}
TEST_F(BrokenSimulationTest, MissesTheBudgetOfCrashes) {
  EXPECT_NE(find({.broken = {}, .crashes_max = std::numeric_limits<int>::max()}), "");
}
TEST_F(BrokenSimulationTest, MissesTheLease) {
  EXPECT_NE(find({.broken = {.claims_ignore_leases = true}, .crashes_max = 8}), "");
}

}  // namespace
}  // namespace hookgate
