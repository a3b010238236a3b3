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
#include "domain/ip_network.h"
#include "ingest/client_address.h"
#include "ingest/commit_queue.h"
#include "ingest/rate_limiter.h"
#include "ingest/rejection_log.h"
#include "ingest/responder.h"
#include "ingest/source.h"
#include "telemetry/metrics.h"

namespace hookgate {

struct ReceiverSettings {
  std::size_t body_bytes_max = 1024 * 1024;
  std::chrono::seconds retry_after{1};     // told with 503
  std::vector<IpNetwork> trusted_proxies;  // whose X-Forwarded-For is believed
  bool trust_unix_socket = false;  // the same for peers on a Unix socket, which have no address
  Metrics* metrics = nullptr;      // outlives the receiver; null: nothing is observed
};

// The path of an event from a request to its answer: source by path, verification over the raw
// bytes, events, commit queue, answer. Knows providers only by their interface. Every method from
// any thread.
class Receiver {
 public:
  using Reply = std::function<void(Answer)>;

  // `is_ready`: whether the database answers and its schema is current.
  Receiver(SourceMap sources, CommitQueue& queue, Responder& responder, Clock clock,
           ReceiverSettings settings, std::function<bool()> is_ready);

  // New requests are judged by these from now on; those under way finish with the old ones. What
  // was used up of a rate limit stays used up.
  void replace_sources(SourceMap sources);

  // What can be said before the body is read, and is counted and logged as an answer: not found,
  // wrong method, address not allowed, too large, draining, a signature header that cannot hold.
  // `head` is the request without its body, `remote_address` the socket's peer. A listener calls
  // it exactly once for each request, and `receive` only for those that pass.
  std::optional<Answer> refuse_early(const InboundRequest& head,
                                     std::optional<std::size_t> content_length);

  // Judges the request and answers through `reply`, exactly once: at once, or after the commit from
  // a writer thread. `request.received_at` is set here, and `remote_address` becomes the client's
  // when a trusted proxy names one.
  void receive(InboundRequest request, Reply reply);

  // For a thread that has several requests to hand over one after the other.
  [[nodiscard]] CommitQueue::Burst burst() { return CommitQueue::Burst{queue_}; }

  // From now on new requests get 503; those already taken are finished.
  void drain();

  Answer overloaded() const;
  std::size_t body_bytes_max() const { return settings_.body_bytes_max; }

 private:
  using SteadyClock = std::chrono::steady_clock;

  // A request to a source, from its arrival to its answer. One allocation holds it all.
  struct Exchange {
    std::shared_ptr<const Source> source;
    Reply reply;
    SteadyClock::time_point began;
    std::vector<std::string> event_ids;
    std::string remote_address;
  };
  // An answer that is no success, with what the log and the counters say of it. Without a reason it
  // is our doing, and only counted as an answer.
  struct Refusal {
    Answer answer;
    std::string_view reason{};
    std::string detail{};
  };

  // Keeps its map alive, so that a reload does not pull it from under a request.
  std::shared_ptr<const Source> source_of(std::string_view path) const;
  std::optional<Refusal> judge_head(const Source* source, bool is_probe, const InboundRequest& head,
                                    std::optional<std::size_t> content_length) const;
  bool is_allowed(const Source& source, const InboundRequest& head) const;
  void receive_webhook(Exchange exchange, InboundRequest request);
  std::optional<Refusal> judge(const Source& source, const InboundRequest& request,
                               SteadyClock::time_point began, std::size_t& secret_index);
  void submit(Exchange exchange, InboundRequest request, std::vector<NewEvent> events,
              std::size_t secret_index);
  void enqueue(std::shared_ptr<const Exchange> exchange, std::vector<Delivery> deliveries);
  void respond(std::shared_ptr<const Exchange> exchange, Delivery delivery);
  void refuse_overloaded(const Exchange& exchange, std::size_t body_bytes, std::string_view detail);
  void complete(const Exchange& exchange, const CommitResult& result) const;
  void complete_answered(std::shared_ptr<const Exchange> exchange, const Delivery& delivery,
                         AnsweredRequest answered);
  Answer answer_to(const AnsweredRequest& answered, bool has_client_keys,
                   const std::vector<std::string>& event_ids) const;
  // Counts and logs it.
  void note(const Refusal& refusal, const Source* source, std::string_view remote,
            std::size_t body_bytes);
  void count_answer(std::string_view source, int status, SteadyClock::time_point began) const;
  void finish(const Exchange& exchange, Answer answer) const;

  mutable std::mutex mutex_;
  std::shared_ptr<const SourceMap> sources_;  // guarded by mutex_
  CommitQueue& queue_;
  Responder& responder_;
  const Clock clock_;
  const ReceiverSettings settings_;
  const TrustedProxies trusted_proxies_;
  const std::function<bool()> is_ready_;
  std::atomic<bool> draining_ = false;
  RateLimiter rate_limiter_;
  RejectionLog rejection_log_;
};

}  // namespace hookgate
