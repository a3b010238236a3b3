#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "domain/provider.h"
#include "domain/time.h"
#include "providers/registry.h"

namespace hookgate {

// The secrets of the committed fixtures. Invented; the dev configuration has the same.
inline constexpr auto kStripeSecret = "whsec_hookgate_dev_only_invented_secret_stripe";
inline constexpr auto kAdyenKey =
    "00112233445566778899AABBCCDDEEFF102132435465768798A9BACBDCEDFE0F";
inline constexpr auto kStandardSecret = "whsec_aG9va2dhdGUtZGV2LW9ubHktaW52ZW50ZWQtc2VjcmV0";

inline constexpr SystemTime kNow{std::chrono::seconds{1'767'225'600}};

inline ProviderSettings settings_with(const std::string& secret) {
  ProviderSettings settings;
  settings.secrets = {Secret{secret}};
  return settings;
}

inline std::unique_ptr<Provider> provider_with(std::string_view name, const std::string& secret) {
  return make_provider(name, settings_with(secret));
}

inline InboundRequest a_request(std::string target, std::string body) {
  InboundRequest request;
  request.method = "POST";
  request.target = std::move(target);
  request.headers = {{"Host", "example.test"}, {"Content-Type", "application/json"}};
  request.body = std::move(body);
  return request;
}

// A folder of its own for each test, gone after it.
class CliTest : public ::testing::Test {
 protected:
  CliTest() {
    auto pattern = (std::filesystem::temp_directory_path() / "hookgate-cli-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
  }
  ~CliTest() override { std::filesystem::remove_all(folder_); }
  CliTest(const CliTest&) = delete;
  CliTest& operator=(const CliTest&) = delete;

  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    auto file = folder_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file, std::ios::binary} << bytes;
    return file;
  }

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

// What the text of the exception of type E says; a failure if none is thrown.
template <typename E, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace hookgate
