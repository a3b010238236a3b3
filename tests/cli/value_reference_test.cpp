#include "cli/value_reference.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"

namespace hookgate {
namespace {

TEST(ResolveSecretTest, TakesTheTextTheVariableOrTheFile) {
  EXPECT_EQ(resolve_secret("whsec_invented").reveal(), "whsec_invented");
  const auto file = testing::TempDir() + "hookgate-secret-" + std::to_string(::getpid());
  std::ofstream{file} << "whsec_invented\n";
  EXPECT_EQ(resolve_secret("file:" + file).reveal(), "whsec_invented");
  std::filesystem::remove(file);
}

TEST(ResolveSecretTest, NeverWaitsForAFileOrReadsOneWithoutEnd) {
  EXPECT_THROW(resolve_secret("file:/dev/zero"), UsageError);
  EXPECT_THROW(resolve_secret("file:/nonexistent"), UsageError);
  const auto pipe = testing::TempDir() + "hookgate-pipe-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(resolve_secret("file:" + pipe), UsageError);
  std::filesystem::remove(pipe);
  const auto large = testing::TempDir() + "hookgate-large-" + std::to_string(::getpid());
  std::ofstream{large} << std::string(100'000, 'a');
  EXPECT_THROW(resolve_secret("file:" + large), UsageError);
  std::filesystem::remove(large);
}

}  // namespace
}  // namespace hookgate
