#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "gateway_support.h"
#include "listener_support.h"

namespace hookgate {

// The whole program with a listener of the kind that the parameter names, as a process of its own.
class ListenerProcessTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  void TearDown() override;

  GatewayProcess& process() { return *process_; }
  const std::string& address() const { return address_; }
  TestDatabase& database() { return *database_; }

  std::size_t memory_bytes() const;       // resident now
  std::size_t peak_memory_bytes() const;  // resident at most, so far
  // Whether a new connection is answered.
  bool is_well() const;

  // Lines for [server].
  virtual std::string server_settings() const { return ""; }

 private:
  std::size_t status_figure(const std::string& name) const;

  std::unique_ptr<TestDatabase> database_;
  std::filesystem::path config_;
  std::unique_ptr<GatewayProcess> process_;
  std::string address_;
};

}  // namespace hookgate
