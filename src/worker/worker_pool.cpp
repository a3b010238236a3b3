#include "worker/worker_pool.h"

#include <exception>
#include <utility>

#include "telemetry/log.h"

namespace hookgate {

WorkerPool::WorkerPool(std::function<std::size_t()> run_once, WorkerPoolSettings settings)
    : run_once_(std::move(run_once)), settings_(settings) {}

void WorkerPool::start() {
  for (int i = 0; i < settings_.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
}

void WorkerPool::stop() noexcept {
  for (auto& thread : threads_) thread.request_stop();
  threads_.clear();
}

void WorkerPool::wake() {
  {
    const std::scoped_lock lock{mutex_};
    ++wakes_;
  }
  // One is enough: a worker that finds a batch wakes the next before it runs it.
  wakeup_.notify_one();
}

void WorkerPool::pause(const std::stop_token& stop, std::chrono::milliseconds limit) {
  std::unique_lock lock{mutex_};
  wakeup_.wait_for(lock, stop, limit, [] { return false; });
}

void WorkerPool::run(const std::stop_token& stop) {
  std::uint64_t seen = 0;
  while (!stop.stop_requested()) {
    try {
      {
        const std::scoped_lock lock{mutex_};
        seen = wakes_;
      }
      if (run_once_() > 0) {
        wakeup_.notify_one();
        continue;
      }
    } catch (const std::exception& error) {
      log(LogLevel::kError, "worker cannot reach the database",
          {{"reason", std::string_view{error.what()}}});
      pause(stop, settings_.pause_when_away);
      continue;
    }
    std::unique_lock lock{mutex_};
    wakeup_.wait_for(lock, stop, settings_.poll_interval, [&] { return wakes_ != seen; });
  }
}

}  // namespace hookgate
