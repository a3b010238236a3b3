#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "gateway_support.h"

namespace hookgate {
namespace {

class BenchCommandTest : public GatewayTest {
 protected:
  void SetUp() override {
    GatewayTest::SetUp();
    if (IsSkipped()) return;
    auto pattern = (std::filesystem::temp_directory_path() / "hookgate-bench-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    const auto text = test_config(database().url(), 0);
    std::ofstream{folder_ / "hookgate.toml"} << text;
    address_ = start_gateway(text);
  }
  void TearDown() override {
    GatewayTest::TearDown();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // Its exit code; what it printed is in output_.
  int bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"bench", "--config", (folder_ / "hookgate.toml").string()});
    GatewayProcess program{arguments};
    const int code = program.wait(30);
    output_ = program.output();
    return code;
  }

  std::string url() const { return "http://" + address_; }

  std::filesystem::path folder_;
  std::string address_;
  std::string output_;
};

TEST_F(BenchCommandTest, SendsForASecondAndCountsWhatTheDatabaseHolds) {
  ASSERT_EQ(bench({"--to", url(), "--source", "stripe", "--connections", "16", "--duration", "1s",
                   "--bad-signatures", "2%", "--duplicates", "20%", "--json"}),
            0)
      << output_;
  const auto report = nlohmann::json::parse(output_);
  EXPECT_GT(report["accepted"].get<int>(), 0);
  EXPECT_EQ(report["accepted"].get<std::int64_t>(), database().count("hookgate.events"));
  EXPECT_EQ(database().value("SELECT sum(deliveries) FROM hookgate.events"),
            std::to_string(report["accepted"].get<int>() + report["duplicate"].get<int>()));
  EXPECT_EQ(report["rejected"], report["bad_signatures"]);
  EXPECT_EQ(report["wrong"], 0);
  EXPECT_GT(report["latency_ms"]["p50"].get<double>(), 0);
  EXPECT_GE(report["latency_ms"]["max"], report["latency_ms"]["p99"]);
}

TEST_F(BenchCommandTest, ActsForEverySource) {
  for (const auto* source : {"adyen", "standard"}) {
    EXPECT_EQ(bench({"--to", url(), "--source", source, "--count", "50", "--rate", "500"}), 0)
        << output_;
    EXPECT_NE(output_.find("faults    none"), std::string::npos) << output_;
  }
}

TEST_F(BenchCommandTest, FailsWhenAnswersAreWrong) {
  const auto text = test_config(database().url(), 0,
                                source_block("stripe", "stripe", {"whsec_another_invented_one"}));
  std::ofstream{folder_ / "hookgate.toml"} << text;
  EXPECT_EQ(bench({"--to", url(), "--source", "stripe", "--count", "10"}), 1);
  EXPECT_NE(output_.find("expected 200 accepted, got 401"), std::string::npos) << output_;
  EXPECT_EQ(database().count("hookgate.events"), 0);
}

TEST_F(BenchCommandTest, RefusesWhatItCannotDoBeforeItSendsAnything) {
  EXPECT_EQ(bench({"--to", url(), "--source", "nobody"}), 2);
  EXPECT_EQ(bench({"--to", "https://127.0.0.1:1", "--source", "stripe"}), 2);
  EXPECT_EQ(bench({"--to", url(), "--source", "stripe", "--duplicates", "120%"}), 2);
  EXPECT_EQ(bench({"--to", "http://192.0.2.1:9", "--source", "stripe"}), 2);
  EXPECT_NE(output_.find("--allow-remote"), std::string::npos) << output_;
  EXPECT_EQ(bench({"--to", "unix:" + (folder_ / "none").string(), "--source", "stripe"}), 3);
  EXPECT_EQ(database().count("hookgate.events"), 0);
}

}  // namespace
}  // namespace hookgate
