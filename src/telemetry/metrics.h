#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace hookgate {

// Where the time of one answered request went, in order.
enum class Stage {
  kRead,        // first byte of the request to the last
  kQueue,       // whole request to a worker taking it
  kVerify,      // signature, parsing, fingerprint
  kCommitWait,  // handed over to a writer taking the batch
  kCommit,      // the statements and the commit
  kWrite,       // answer at hand to its last byte given to the kernel
};

// What happened to one event at the door.
enum class EventOutcome { kAccepted, kDuplicate, kConflict, kRejected };

// How a run of a handler ended. The first four are its own words; "error" is an exception that
// escaped it, and "undone" a run whose writes were rolled back for no fault of its own (a neighbour
// in the batch failed, a deadlock, a lost claim or database), so that it will run again.
inline constexpr std::array<std::string_view, 6> kRunOutcomes{"done",    "ignored", "retry",
                                                              "gave_up", "error",   "undone"};

// How a try to send a message of the outbox ended. "dead" is the last failure; "aborted" was cut
// off by a shutdown; "lost" could not be recorded, so that the message may be sent again.
inline constexpr std::array<std::string_view, 5> kSendOutcomes{"sent", "failed", "dead", "aborted",
                                                               "lost"};

// The counters and histograms of docs/metrics.md. Every method from any thread; observing costs
// well under a microsecond and never throws. Labels come from closed sets: names of configured
// sources and handlers, codes; what has no source is counted under "". A set that grows past its
// limit all the same goes on under one label: sources as "", the rest as "other".
class Metrics {
 public:
  using Duration = std::chrono::nanoseconds;

  Metrics();
  ~Metrics();

  // Makes the series of a configured source or handler exist at 0, so that a rate over the first
  // event is one. What was not declared appears when it is first observed. Again is fine.
  void declare_source(std::string_view source, std::size_t secrets);
  void declare_handler(std::string_view handler);
  void declare_destination(std::string_view destination);

  void stage(Stage stage, Duration took);
  // One answered request; `took` from its last byte to the answer at hand, for one that was refused
  // by the listener from its first.
  void request(std::string_view source, int status, Duration took);
  void event(std::string_view source, EventOutcome outcome, std::size_t count = 1);
  void rejection(std::string_view source, std::string_view reason);
  void secret_match(std::string_view source, std::size_t secret_index);
  // An authentic request came in, for "nothing came for an hour" alerts.
  void last_event(std::string_view source, std::chrono::system_clock::time_point at);
  // One batch of the commit queue, committed.
  void commit(Duration took, std::size_t events);
  // `outcome` is one of kRunOutcomes.
  void handler_run(std::string_view handler, std::string_view outcome, Duration took);

  // `outcome` is one of kSendOutcomes.
  void outbox_send(std::string_view destination, std::string_view outcome);

  // The state of the work, as read from the database at the time of a scrape.
  struct Backlog {
    std::size_t events_pending = 0;
    double oldest_pending_seconds = 0;
    std::size_t events_dead = 0;
    std::size_t outbox_pending = 0;
  };
  void set_backlog(const Backlog& backlog);
  // Not known, because the database did not answer: the gauges are NaN, as they are at first.
  void clear_backlog();
  // Gauges of the public listener.
  void set_connections(std::size_t open);

  // Prometheus text exposition format 0.0.4, with figures of this process read from /proc.
  std::string text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hookgate
