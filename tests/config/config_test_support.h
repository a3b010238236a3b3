#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <stdlib.h>  // setenv is POSIX's, not C++'s

#include "config.h"

namespace hookgate {

inline constexpr std::string_view kAccepted = "accepted";

// The fault that `text` is refused with, or kAccepted.
inline std::string fault_of(std::string_view text, const std::filesystem::path& name = "t.toml") {
  try {
    parse_config(text, name);
  } catch (const ConfigError& fault) {
    return fault.what();
  }
  return std::string{kAccepted};
}

// A source of four lines and, from the fifth on, `rest`.
inline std::string a_stripe_source(std::string_view rest = "") {
  return "[[source]]\nname = \"stripe\"\nprovider = \"stripe\"\nsecrets = [\"whsec_INVENTED\"]\n" +
         std::string{rest};
}

inline std::string an_adyen_source(std::string_view rest = "") {
  return "[[source]]\nname = \"adyen\"\nprovider = \"adyen\"\nsecrets = [\"" +
         std::string(64, 'A') + "\"]\n" + std::string{rest};
}

// Set while it lives.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~EnvironmentVariable() { unsetenv(name_.c_str()); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  std::string name_;
};

// A folder of this test's own, removed with it.
class ConfigFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto pattern = (std::filesystem::temp_directory_path() / "hookgate-config-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::filesystem::path write(const std::string& name, std::string_view content) {
    auto path = folder_ / name;
    std::ofstream{path, std::ios::binary} << content;
    return path;
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace hookgate
