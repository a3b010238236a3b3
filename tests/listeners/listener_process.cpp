#include "listener_process.h"

#include <fstream>

#include <unistd.h>

#include "raw_socket.h"

namespace hookgate {

void ListenerProcessTest::SetUp() {
  HOOKGATE_REQUIRE_DATABASE();
  database_ = std::make_unique<TestDatabase>();
  auto text = test_config(database_->url(), 1, source_block("stripe", "stripe", {kStripeSecret}));
  const std::string server = "[server]\n";
  text.insert(text.find(server) + server.size(),
              "listener = \"" + GetParam() + "\"\n" + server_settings());
  config_ = std::filesystem::temp_directory_path() /
            ("hookgate-listener-" + std::to_string(::getpid()) + ".toml");
  std::ofstream{config_} << text;
  process_ = std::make_unique<GatewayProcess>(
      std::vector<std::string>{"serve", "--config", config_.string()});
  address_ = process_->public_address();
}

void ListenerProcessTest::TearDown() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove(config_, ignored);
  database_.reset();
}

std::size_t ListenerProcessTest::memory_bytes() const {
  return status_figure("VmRSS:");
}

std::size_t ListenerProcessTest::peak_memory_bytes() const {
  return status_figure("VmHWM:");
}

std::size_t ListenerProcessTest::status_figure(const std::string& name) const {
  std::ifstream status{"/proc/" + std::to_string(process_->pid()) + "/status"};
  std::string word;
  while (status >> word) {
    std::size_t kibibytes = 0;
    if (word == name && status >> kibibytes) return kibibytes * 1024;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

bool ListenerProcessTest::is_well() const {
  RawSocket socket{address_};
  socket.send("GET /healthz HTTP/1.1\r\nHost: gateway.test\r\n\r\n");
  return statuses_of(socket.read_answers(1)) == std::vector{200};
}

}  // namespace hookgate
