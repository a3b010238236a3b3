#include "ingest/elastic_thread_pool.h"

#include <utility>

namespace hookgate {

void ElasticThreadPool::enqueue(std::function<void()> work) {
  const std::scoped_lock lock{mutex_};
  if (stopping_) return;
  waiting_.push_back(std::move(work));
  if (waiting_.size() > idle_ && threads_.size() < threads_max_) {
    threads_.emplace_back([this] { run(); });
  }
  wakeup_.notify_one();
}

void ElasticThreadPool::shutdown() {
  std::vector<std::thread> threads;
  {
    const std::scoped_lock lock{mutex_};
    stopping_ = true;
    threads.swap(threads_);
  }
  wakeup_.notify_all();
  for (auto& thread : threads) thread.join();
}

void ElasticThreadPool::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    ++idle_;
    wakeup_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    auto work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace hookgate
