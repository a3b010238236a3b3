#include "ingest/commit_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "telemetry/log.h"

namespace hookgate {
namespace {

// A NOTIFY takes a lock that all committing sessions share, so it is not sent for every batch. What
// a process misses this way it finds by polling.
constexpr std::chrono::milliseconds kNotifyPause{50};

std::size_t bytes_of(const std::vector<Delivery>& deliveries) {
  std::size_t bytes = 0;
  for (const auto& delivery : deliveries) {
    bytes += delivery.request->body.size() + delivery.request->head.size();
  }
  return bytes;
}

}  // namespace

CommitQueue::CommitQueue(ConnectionPool& pool, CommitQueueSettings settings,
                         std::function<void()> on_stored)
    : pool_(pool), settings_(settings), on_stored_(std::move(on_stored)) {}

CommitQueue::~CommitQueue() {
  stop();
}

void CommitQueue::start() {
  for (int i = 0; i < settings_.writers; ++i) writers_.emplace_back([this] { run(); });
}

void CommitQueue::stop() noexcept {
  {
    const std::scoped_lock lock{mutex_};
    stopping_ = true;
  }
  submitted_.notify_all();
  for (auto& writer : writers_) {
    if (writer.joinable()) writer.join();
  }
  writers_.clear();
}

bool CommitQueue::submit(std::vector<Delivery> deliveries, Completion done) {
  Job job{std::move(deliveries), 0, std::move(done), std::chrono::steady_clock::now()};
  job.bytes = bytes_of(job.deliveries);
  {
    const std::scoped_lock lock{mutex_};
    if (stopping_ || jobs_.size() >= settings_.requests_max ||
        waiting_bytes_ + job.bytes > settings_.bytes_max) {
      return false;
    }
    waiting_bytes_ += job.bytes;
    jobs_.push_back(std::move(job));
  }
  if (bursts_ == 0) submitted_.notify_one();
  return true;
}

// One writer is enough: if it leaves any, it wakes the next.
void CommitQueue::end_burst() {
  bursts_ -= 1;
  bool some_wait = false;
  {
    const std::scoped_lock lock{mutex_};
    some_wait = !jobs_.empty();
  }
  if (some_wait) submitted_.notify_one();
}

// The next batch; empty when the queue is stopped and drained.
std::vector<CommitQueue::Job> CommitQueue::take() {
  std::unique_lock lock{mutex_};
  submitted_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
  std::vector<Job> batch;
  std::size_t events = 0;
  std::size_t bytes = 0;
  while (!jobs_.empty()) {
    const auto& next = jobs_.front();
    const bool fits = events + next.deliveries.size() <= settings_.batch_events_max &&
                      bytes + next.bytes <= settings_.batch_bytes_max;
    if (!batch.empty() && !fits) break;
    events += next.deliveries.size();
    bytes += next.bytes;
    waiting_bytes_ -= next.bytes;
    batch.push_back(std::move(jobs_.front()));
    jobs_.pop_front();
  }
  const bool some_are_left = !jobs_.empty();
  lock.unlock();
  if (some_are_left) submitted_.notify_one();
  return batch;
}

void CommitQueue::run() {
  EventStore store{recent_};
  for (auto batch = take(); !batch.empty(); batch = take()) {
    observe_wait(batch);
    bool away = false;
    {
      const std::scoped_lock lock{mutex_};
      away = std::chrono::steady_clock::now() < database_away_until_;
    }
    if (away || !write(store, batch)) {
      for (auto& job : batch) job.done(std::nullopt);
    }
  }
}

// False when nothing may be said of the batch; then no job was answered.
bool CommitQueue::write(EventStore& store, std::vector<Job>& jobs) {
  std::vector<Delivery> deliveries;
  for (const auto& job : jobs) std::ranges::copy(job.deliveries, std::back_inserter(deliveries));
  try {
    auto lease = pool_.acquire();
    const auto began = std::chrono::steady_clock::now();
    const auto results = store.record(*lease, deliveries);
    // Before the answers, so that whoever has one finds it counted.
    observe_commit(jobs.size(), deliveries.size(), std::chrono::steady_clock::now() - began);
    auto next = results.begin();
    for (auto& job : jobs) {
      const auto end = next + static_cast<std::ptrdiff_t>(job.deliveries.size());
      job.done(std::vector<StoreResult>{next, end});
      next = end;
    }
    if (std::ranges::find(results, StoreResult::kAccepted) != results.end()) {
      on_stored_();
      notify_other_processes(lease);
    }
    return true;
  } catch (const std::exception& error) {
    log(LogLevel::kError, "events not stored",
        {{"events", deliveries.size()}, {"reason", std::string_view{error.what()}}});
    const std::scoped_lock lock{mutex_};
    database_away_until_ = std::chrono::steady_clock::now() + settings_.retry_pause;
    return false;
  }
}

void CommitQueue::observe_wait(const std::vector<Job>& jobs) const {
  if (settings_.metrics == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  for (const auto& job : jobs) settings_.metrics->stage(Stage::kCommitWait, now - job.submitted_at);
}

void CommitQueue::observe_commit(std::size_t requests, std::size_t events,
                                 std::chrono::steady_clock::duration took) const {
  if (settings_.metrics == nullptr) return;
  settings_.metrics->commit(took, events);
  for (std::size_t i = 0; i < requests; ++i) settings_.metrics->stage(Stage::kCommit, took);
}

void CommitQueue::notify_other_processes(ConnectionPool::Lease& lease) {
  {
    const std::scoped_lock lock{mutex_};
    const auto now = std::chrono::steady_clock::now();
    if (now - notified_at_ < kNotifyPause) return;
    notified_at_ = now;
  }
  notify_events(*lease);
}

}  // namespace hookgate
