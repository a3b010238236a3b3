// The public JSON test suite: y_ must be taken, n_ refused, i_ is for us to decide.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "domain/json.h"

namespace hookgate {
namespace {

struct SuiteFile {
  std::string name;
  std::string text;
};

std::filesystem::path suite_folder() {
  const char* given = std::getenv("HOOKGATE_SHARED");
  const std::filesystem::path shared = given != nullptr ? given : HOOKGATE_SOURCE_DIR "/../shared";
  return shared / "cases" / "json-test-suite" / "test_parsing";
}

class JsonSuiteTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(suite_folder())) {
      GTEST_SKIP() << "no JSON test suite at " << suite_folder() << "; set HOOKGATE_SHARED";
    }
    for (const auto& entry : std::filesystem::directory_iterator{suite_folder()}) {
      std::ifstream file{entry.path(), std::ios::binary};
      files_.push_back({entry.path().filename().string(),
                        std::string{std::istreambuf_iterator<char>{file}, {}}});
    }
    std::ranges::sort(files_, {}, &SuiteFile::name);
  }

  // Names of the files of that kind which parse_json takes or refuses.
  std::vector<std::string> names(std::string_view kind, bool taken) const {
    std::vector<std::string> found;
    for (const auto& [name, text] : files_) {
      const bool is_taken = std::holds_alternative<JsonDocument>(parse_json(text));
      if (name.starts_with(kind) && is_taken == taken) found.push_back(name);
    }
    return found;
  }

  std::vector<SuiteFile> files_;
};

TEST_F(JsonSuiteTest, TakesWhatMustBeTaken) {
  EXPECT_EQ(names("y_", false), std::vector<std::string>{});
  EXPECT_GE(names("y_", true).size(), 95U);
}

TEST_F(JsonSuiteTest, RefusesWhatMustBeRefused) {
  EXPECT_EQ(names("n_", true), std::vector<std::string>{});
  EXPECT_GE(names("n_", false).size(), 187U);
}

// Numbers of any size, since only their literal is kept, and a byte order mark.
TEST_F(JsonSuiteTest, DecidesWhatIsOpen) {
  EXPECT_EQ(names("i_", true),
            (std::vector<std::string>{
                "i_number_double_huge_neg_exp.json", "i_number_huge_exp.json",
                "i_number_neg_int_huge_exp.json", "i_number_pos_double_huge_exp.json",
                "i_number_real_neg_overflow.json", "i_number_real_pos_overflow.json",
                "i_number_real_underflow.json", "i_number_too_big_neg_int.json",
                "i_number_too_big_pos_int.json", "i_number_very_big_negative_int.json",
                "i_structure_UTF-8_BOM_empty_object.json"}));
}

TEST_F(JsonSuiteTest, WritesACanonicalFormThatReadsAsTheSame) {
  for (const auto& [name, text] : files_) {
    const auto first = parse_json(text);
    if (std::holds_alternative<JsonError>(first)) continue;
    const auto once = canonical_json(std::get<JsonDocument>(first).root);
    const auto second = parse_json(once);
    ASSERT_TRUE(std::holds_alternative<JsonDocument>(second)) << name;
    EXPECT_EQ(canonical_json(std::get<JsonDocument>(second).root), once) << name;
  }
}

}  // namespace
}  // namespace hookgate
