#include "dev/leftover_servers.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace hookgate {
namespace {

namespace fs = std::filesystem;

constexpr auto kPollInterval = std::chrono::milliseconds{10};

pid_t to_pid(const std::string& text) {
  pid_t pid = 0;
  const auto* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, pid);
  return parsed.ec == std::errc{} && parsed.ptr == end ? pid : 0;
}

std::string first_line(const fs::path& file) {
  std::ifstream in{file};
  std::string line;
  std::getline(in, line);
  return line;
}

// SIGCONT lets a suspended process see the first signal.
void signal_all(const std::vector<pid_t>& processes, int number) {
  for (const auto process : processes) {
    kill(process, number);
    kill(process, SIGCONT);
  }
}

bool gone_within(const fs::path& data, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!postgres_processes_in(data).empty()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

}  // namespace

std::vector<pid_t> postgres_processes_in(const fs::path& data) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator{"/proc", ignored}) {
    const pid_t process = to_pid(entry.path().filename().string());
    if (process == 0) continue;
    // A process that ends meanwhile, or is not ours to look at, reads as an empty path.
    if (fs::read_symlink(entry.path() / "cwd", ignored) != data) continue;
    if (first_line(entry.path() / "comm") == "postgres") found.push_back(process);
  }
  return found;
}

bool end_postgres_processes_in(const fs::path& data) {
  constexpr std::chrono::seconds kGoodOrder{20};
  constexpr std::chrono::seconds kAtOnce{5};
  const auto processes = postgres_processes_in(data);
  if (processes.empty()) return true;
  const pid_t postmaster = to_pid(first_line(data / "postmaster.pid"));
  if (std::find(processes.begin(), processes.end(), postmaster) != processes.end()) {
    signal_all({postmaster}, SIGINT);
    if (gone_within(data, kGoodOrder)) return true;
  }
  signal_all(postgres_processes_in(data), SIGQUIT);
  if (gone_within(data, kAtOnce)) return true;
  signal_all(postgres_processes_in(data), SIGKILL);
  return gone_within(data, kAtOnce);
}

}  // namespace hookgate
