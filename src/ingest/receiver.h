#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/http_message.h"
#include "ingest/commit_queue.h"
#include "ingest/source.h"

namespace hookgate {

struct ReceiverSettings {
  std::size_t body_bytes_max = 1024 * 1024;
  std::chrono::seconds retry_after{1};  // told with 503
};

// The path of an event from a request to its answer: source by path, verification over the raw
// bytes, events, commit queue, answer. Knows providers only by their interface. Every method from
// any thread.
class Receiver {
 public:
  using Reply = std::function<void(Answer)>;

  // `is_ready`: whether the database answers and its schema is current.
  Receiver(SourceMap sources, CommitQueue& queue, Clock clock, ReceiverSettings settings,
           std::function<bool()> is_ready);

  // New requests are judged by these from now on; those under way finish with the old ones.
  void replace_sources(SourceMap sources);

  // What can be said before the body is read: not found, wrong method, too large, draining.
  std::optional<Answer> refuse_early(std::string_view method, std::string_view path,
                                     std::optional<std::size_t> content_length) const;

  // Judges the request and answers through `reply`, exactly once: at once, or after the commit from
  // a writer thread. `request.received_at` is set here.
  void receive(InboundRequest request, Reply reply);

  // From now on new requests get 503; those already taken are finished.
  void drain() { draining_ = true; }

  Answer overloaded() const;
  std::size_t body_bytes_max() const { return settings_.body_bytes_max; }

 private:
  // Keeps its map alive, so that a reload does not pull it from under a request.
  std::shared_ptr<const Source> source_of(std::string_view path) const;
  void receive_webhook(const std::shared_ptr<const Source>& source, InboundRequest request,
                       Reply reply);

  mutable std::mutex mutex_;
  std::shared_ptr<const SourceMap> sources_;  // guarded by mutex_
  CommitQueue& queue_;
  const Clock clock_;
  const ReceiverSettings settings_;
  const std::function<bool()> is_ready_;
  std::atomic<bool> draining_ = false;
};

}  // namespace hookgate
