#include "ingest/request_workers.h"

#include <algorithm>
#include <iterator>

namespace hookgate {
namespace {

// A worker takes a few at once when many wait, so that the lock is not the bottleneck.
constexpr std::size_t kTakeMax = 8;
constexpr unsigned kTurnsPerLargeOne = 4;

}  // namespace

RequestWorkers::RequestWorkers(int threads, Limits limits, std::function<void(RequestJob)> work)
    : thread_count_(std::max(1, threads)), limits_(limits), work_(std::move(work)) {}

void RequestWorkers::start() {
  for (int i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { run(); });
}

void RequestWorkers::stop() noexcept {
  {
    const std::scoped_lock lock{mutex_};
    stopping_ = true;
  }
  pushed_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  threads_.clear();
}

// Workers only ever make room, so one thread that looks and then takes cannot take too much.
bool RequestWorkers::reserve(std::size_t bytes) {
  const auto bytes_max =
      bytes < kLargeBytes ? limits_.bytes_max : limits_.bytes_max - limits_.bytes_max / 4;
  if (requests_.load() >= limits_.requests_max || bytes_.load() + bytes > bytes_max) return false;
  requests_ += 1;
  bytes_ += bytes;
  return true;
}

void RequestWorkers::push(std::vector<RequestJob>& jobs) {
  bool wake_all = false;
  bool wake_one = false;
  {
    const std::scoped_lock lock{mutex_};
    for (auto& job : jobs) {
      auto& lane = job.request.body.size() < kLargeBytes ? usual_ : large_;
      lane.push_back(std::move(job));
    }
    wake_all = sleeping_ > 1 && usual_.size() + large_.size() > 1;
    wake_one = sleeping_ > 0;
  }
  jobs.clear();
  if (wake_all) {
    pushed_.notify_all();
  } else if (wake_one) {
    pushed_.notify_one();
  }
}

std::deque<RequestJob>& RequestWorkers::next_lane() {
  const bool is_large_turn = ++turn_ % kTurnsPerLargeOne == 0;
  if (usual_.empty() || (is_large_turn && !large_.empty())) return large_;
  return usual_;
}

// False when stopped and nothing is left.
bool RequestWorkers::take(std::vector<RequestJob>& jobs) {
  std::unique_lock lock{mutex_};
  ++sleeping_;
  pushed_.wait(lock, [this] { return stopping_ || !usual_.empty() || !large_.empty(); });
  --sleeping_;
  auto& lane = next_lane();
  const auto share = lane.size() / static_cast<std::size_t>(thread_count_) + 1;
  const auto count = &lane == &large_ ? std::min<std::size_t>(lane.size(), 1)
                                      : std::min({lane.size(), share, kTakeMax});
  const auto end = lane.begin() + static_cast<std::ptrdiff_t>(count);
  jobs.assign(std::make_move_iterator(lane.begin()), std::make_move_iterator(end));
  lane.erase(lane.begin(), end);
  for (const auto& job : jobs) bytes_ -= job.request.body.size();
  requests_ -= count;
  return !jobs.empty();
}

void RequestWorkers::run() {
  std::vector<RequestJob> jobs;
  while (take(jobs)) {
    for (auto& job : jobs) work_(std::move(job));
  }
}

}  // namespace hookgate
