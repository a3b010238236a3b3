#include "telemetry/metrics.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "domain/text.h"
#include "domain/verdict.h"
#include "telemetry/label_table.h"
#include "telemetry/process_figures.h"

namespace hookgate {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

constexpr std::size_t kSourcesMax = 1'024;
constexpr std::size_t kHandlersMax = 256;
constexpr std::size_t kReasonsMax = 64;  // a source
constexpr std::size_t kSecretsMax = 32;  // a source
constexpr std::size_t kStatusEnd = 600;

constexpr std::array<std::string_view, 6> kStages{"read",        "queue",  "verify",
                                                  "commit_wait", "commit", "write"};
constexpr std::array<std::string_view, 4> kEventOutcomes{"accepted", "duplicate", "conflict",
                                                         "rejected"};
// The statuses a source is known to answer; they exist at 0 from the start.
constexpr std::array kUsualStatuses{200, 400, 401, 403, 405, 413, 415, 429, 503};

// Reasons that are not a provider's; the same for them.
constexpr std::array<std::string_view, 4> kListenerReasons{"address-not-allowed", "body-too-large",
                                                           "method-not-allowed", "rate-limited"};

// From a check that ends at the head (50 us) to a request that times out (10 s), three a decade.
const Histogram::BucketBoundaries kLatencyBuckets{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025,
                                                  0.005,   0.01,   0.025,   0.05,   0.1,   0.25,
                                                  0.5,     1,      2.5,     5,      10};
const Histogram::BucketBoundaries kBatchBuckets{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double seconds_of(Metrics::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Declares nothing twice: a family gives the series it has for labels that it knows.
template <typename Series, typename Make>
Series& series_in(std::atomic<Series*>& slot, Make make) {
  auto* series = slot.load(std::memory_order_acquire);
  if (series == nullptr) {
    series = &make();
    slot.store(series, std::memory_order_release);
  }
  return *series;
}

struct Families {
  explicit Families(prometheus::Registry& registry);

  prometheus::Family<Counter>& requests;
  prometheus::Family<Counter>& events;
  prometheus::Family<Counter>& rejections;
  prometheus::Family<Counter>& secret_matches;
  prometheus::Family<Counter>& handler_runs;
  prometheus::Family<Counter>& outbox_sends;
  prometheus::Family<Gauge>& last_event;
  prometheus::Family<Histogram>& handler_seconds;
  prometheus::Family<Histogram>& stage_seconds;
};

prometheus::Family<Counter>& counters(prometheus::Registry& registry, const std::string& name,
                                      const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Family<Gauge>& gauges(prometheus::Registry& registry, const std::string& name,
                                  const std::string& help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

prometheus::Family<Histogram>& histograms(prometheus::Registry& registry, const std::string& name,
                                          const std::string& help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

Families::Families(prometheus::Registry& registry)
    : requests(counters(registry, "hookgate_requests_total",
                        "Answered requests of the public listener, by source and HTTP status.")),
      events(counters(registry, "hookgate_events_total",
                      "Events by what became of them at the door.")),
      rejections(counters(registry, "hookgate_rejections_total", "Refused requests, by reason.")),
      secret_matches(counters(registry, "hookgate_secret_matches_total",
                              "Authentic requests by the index of the secret that matched.")),
      handler_runs(counters(registry, "hookgate_handler_runs_total",
                            "Runs of a handler for one event, by how they ended.")),
      outbox_sends(counters(registry, "hookgate_outbox_sends_total",
                            "Tries to send a message of the outbox, by how they ended.")),
      last_event(
          gauges(registry, "hookgate_last_event_timestamp_seconds",
                 "Unix time of the last authentic request; 0 when none came since the start.")),
      handler_seconds(histograms(registry, "hookgate_handler_seconds",
                                 "Time of one run of a handler for one event.")),
      stage_seconds(histograms(registry, "hookgate_stage_seconds",
                               "Where the time of an answered request went.")) {}

// The series of one source; each is made when it is first needed.
class SourceSeries {
 public:
  SourceSeries(Families& families, const std::string& source)
      : families_(families),
        source_(clean_text(source)),
        rejections_(kReasonsMax, "other", [this](const std::string& reason) {
          return &families_.rejections.Add({{"source", source_}, {"reason", clean_text(reason)}});
        }) {}

  Counter& requests(int status) {
    const bool is_known = status >= 100 && status < static_cast<int>(kStatusEnd);
    const std::size_t index = is_known ? static_cast<std::size_t>(status) : 0;
    return series_in(requests_[index], [&]() -> Counter& {
      const auto text = is_known ? std::to_string(status) : "other";
      return families_.requests.Add({{"source", source_}, {"status", text}});
    });
  }

  Counter& events(EventOutcome outcome) {
    const auto index = static_cast<std::size_t>(outcome);
    return series_in(events_.at(index), [&]() -> Counter& {
      return families_.events.Add(
          {{"source", source_}, {"outcome", std::string{kEventOutcomes.at(index)}}});
    });
  }

  Counter& rejections(std::string_view reason) { return *rejections_.at(reason); }

  Counter& secret_matches(std::size_t secret) {
    const auto index = std::min(secret, kSecretsMax);
    return series_in(secret_matches_[index], [&]() -> Counter& {
      const auto text = index < kSecretsMax ? std::to_string(index) : "other";
      return families_.secret_matches.Add({{"source", source_}, {"secret", text}});
    });
  }

  Gauge& last_event() {
    return series_in(last_event_, [&]() -> Gauge& {
      return families_.last_event.Add({{"source", source_}});
    });
  }

  void declare(std::size_t secrets) {
    for (const int status : kUsualStatuses) requests(status);
    for (std::size_t i = 0; i < kEventOutcomes.size(); ++i) events(static_cast<EventOutcome>(i));
    for (int i = 0; i <= static_cast<int>(RejectReason::kCredentialsMismatch); ++i) {
      rejections(reason_code(static_cast<RejectReason>(i)));
    }
    for (const auto reason : kListenerReasons) rejections(reason);
    for (std::size_t i = 0; i < std::min(secrets, kSecretsMax); ++i) secret_matches(i);
    last_event();
  }

 private:
  Families& families_;
  const std::string source_;
  std::array<std::atomic<Counter*>, kStatusEnd> requests_{};
  std::array<std::atomic<Counter*>, kEventOutcomes.size()> events_{};
  std::array<std::atomic<Counter*>, kSecretsMax + 1> secret_matches_{};
  std::atomic<Gauge*> last_event_ = nullptr;
  LabelTable<Counter*> rejections_;
};

class HandlerSeries {
 public:
  HandlerSeries(Families& families, const std::string& handler)
      : seconds(families.handler_seconds.Add({{"handler", clean_text(handler)}}, kLatencyBuckets)),
        runs(kRunOutcomes.size(), "other",
             [&families, label = clean_text(handler)](const std::string& outcome) {
               return &families.handler_runs.Add({{"handler", label}, {"outcome", outcome}});
             }) {
    for (const auto outcome : kRunOutcomes) runs.at(outcome);
  }

  Histogram& seconds;
  LabelTable<Counter*> runs;
};

class DestinationSeries {
 public:
  DestinationSeries(Families& families, const std::string& destination)
      : sends(kSendOutcomes.size(), "other",
              [&families, label = clean_text(destination)](const std::string& outcome) {
                return &families.outbox_sends.Add({{"destination", label}, {"outcome", outcome}});
              }) {
    for (const auto outcome : kSendOutcomes) sends.at(outcome);
  }

  LabelTable<Counter*> sends;
};

void append(std::vector<prometheus::MetricFamily>& families, prometheus::MetricType type,
            const std::string& name, const std::string& help, double value) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  metric.counter.value = value;
  families.push_back({name, help, type, {metric}});
}

// Names and texts as every Prometheus client library has them.
void append_process_figures(std::vector<prometheus::MetricFamily>& families) {
  const auto process = read_process_figures();
  if (!process) return;
  using prometheus::MetricType;
  append(families, MetricType::Counter, "process_cpu_seconds_total",
         "Total user and system CPU time spent in seconds.", process->cpu_seconds);
  append(families, MetricType::Gauge, "process_start_time_seconds",
         "Start time of the process since unix epoch in seconds.", process->start_time_seconds);
  append(families, MetricType::Gauge, "process_resident_memory_bytes",
         "Resident memory size in bytes.", process->resident_bytes);
  append(families, MetricType::Gauge, "process_virtual_memory_bytes",
         "Virtual memory size in bytes.", process->virtual_bytes);
  append(families, MetricType::Gauge, "process_open_fds", "Number of open file descriptors.",
         process->open_fds);
  append(families, MetricType::Gauge, "process_max_fds", "Maximum number of open file descriptors.",
         process->max_fds);
}

// The library hands series out in the order of a hash; people read them, and diffs too.
void sort_by_name(std::vector<prometheus::MetricFamily>& families) {
  std::ranges::sort(families, {}, &prometheus::MetricFamily::name);
  for (auto& family : families) {
    std::ranges::sort(family.metric, {}, &prometheus::ClientMetric::label);
  }
}

}  // namespace

class Metrics::Impl {
 public:
  Impl() {
    for (std::size_t i = 0; i < kStages.size(); ++i) {
      stages.at(i) =
          &families.stage_seconds.Add({{"stage", std::string{kStages.at(i)}}}, kLatencyBuckets);
    }
    gauges(registry, "hookgate_build_info", "Always 1; the version is the label.")
        .Add({{"version", HOOKGATE_VERSION}})
        .Set(1);
    sources.at("").requests(404);
  }

  Gauge& backlog_gauge(const std::string& name, const std::string& help) {
    auto& gauge = gauges(registry, name, help).Add({});
    gauge.Set(kUnknown);
    return gauge;
  }

  prometheus::Registry registry;
  Families families{registry};
  Histogram& request_seconds =
      histograms(registry, "hookgate_request_seconds",
                 "Time of an answered request of the public listener, until the answer is at hand.")
          .Add({}, kLatencyBuckets);
  Histogram& commit_seconds = histograms(registry, "hookgate_commit_seconds",
                                         "Statements and commit of one batch of events.")
                                  .Add({}, kLatencyBuckets);
  Histogram& commit_batch_size =
      histograms(registry, "hookgate_commit_batch_size", "Events committed together.")
          .Add({}, kBatchBuckets);
  Gauge& events_pending =
      backlog_gauge("hookgate_events_pending", "Events whose handlers are not through.");
  Gauge& oldest_pending =
      backlog_gauge("hookgate_oldest_pending_seconds", "Age of the oldest pending event.");
  Gauge& events_dead = backlog_gauge("hookgate_events_dead", "Events that wait for an operator.");
  Gauge& outbox_pending =
      backlog_gauge("hookgate_outbox_pending", "Outgoing messages that are not sent.");
  Gauge& open_connections =
      gauges(registry, "hookgate_open_connections", "Open connections of the public listener.")
          .Add({});
  std::array<Histogram*, kStages.size()> stages{};
  LabelTable<SourceSeries> sources{kSourcesMax, "", [this](const std::string& name) {
                                     return SourceSeries{families, name};
                                   }};
  LabelTable<HandlerSeries> handlers{kHandlersMax, "other", [this](const std::string& name) {
                                       return HandlerSeries{families, name};
                                     }};
  LabelTable<DestinationSeries> destinations{kHandlersMax, "other",
                                             [this](const std::string& name) {
                                               return DestinationSeries{families, name};
                                             }};
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::declare_source(std::string_view source, std::size_t secrets) {
  impl_->sources.at(source).declare(secrets);
}

void Metrics::declare_handler(std::string_view handler) {
  impl_->handlers.at(handler);
}

void Metrics::declare_destination(std::string_view destination) {
  impl_->destinations.at(destination);
}

void Metrics::stage(Stage stage, Duration took) {
  impl_->stages.at(static_cast<std::size_t>(stage))->Observe(seconds_of(took));
}

void Metrics::request(std::string_view source, int status, Duration took) {
  impl_->sources.at(source).requests(status).Increment();
  impl_->request_seconds.Observe(seconds_of(took));
}

void Metrics::event(std::string_view source, EventOutcome outcome, std::size_t count) {
  impl_->sources.at(source).events(outcome).Increment(static_cast<double>(count));
}

void Metrics::rejection(std::string_view source, std::string_view reason) {
  impl_->sources.at(source).rejections(reason).Increment();
}

void Metrics::secret_match(std::string_view source, std::size_t secret_index) {
  impl_->sources.at(source).secret_matches(secret_index).Increment();
}

void Metrics::last_event(std::string_view source, std::chrono::system_clock::time_point at) {
  impl_->sources.at(source).last_event().Set(
      std::chrono::duration<double>(at.time_since_epoch()).count());
}

void Metrics::commit(Duration took, std::size_t events) {
  impl_->commit_seconds.Observe(seconds_of(took));
  impl_->commit_batch_size.Observe(static_cast<double>(events));
}

void Metrics::handler_run(std::string_view handler, std::string_view outcome, Duration took) {
  auto& series = impl_->handlers.at(handler);
  series.runs.at(outcome)->Increment();
  series.seconds.Observe(seconds_of(took));
}

void Metrics::outbox_send(std::string_view destination, std::string_view outcome) {
  impl_->destinations.at(destination).sends.at(outcome)->Increment();
}

void Metrics::set_backlog(const Backlog& backlog) {
  impl_->events_pending.Set(static_cast<double>(backlog.events_pending));
  impl_->oldest_pending.Set(backlog.oldest_pending_seconds);
  impl_->events_dead.Set(static_cast<double>(backlog.events_dead));
  impl_->outbox_pending.Set(static_cast<double>(backlog.outbox_pending));
}

void Metrics::clear_backlog() {
  for (auto* gauge : {&impl_->events_pending, &impl_->oldest_pending, &impl_->events_dead,
                      &impl_->outbox_pending}) {
    gauge->Set(kUnknown);
  }
}

void Metrics::set_connections(std::size_t open) {
  impl_->open_connections.Set(static_cast<double>(open));
}

std::string Metrics::text() const {
  auto families = impl_->registry.Collect();
  append_process_figures(families);
  sort_by_name(families);
  return prometheus::TextSerializer{}.Serialize(families);
}

}  // namespace hookgate
