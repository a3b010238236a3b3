#include "app.h"

#include <algorithm>
#include <csignal>
#include <future>
#include <mutex>
#include <thread>

#include "admin/admin_server.h"
#include "app_outbox.h"
#include "config_values.h"
#include "ingest/commit_queue.h"
#include "ingest/listener.h"
#include "ingest/receiver.h"
#include "ingest/responder.h"
#include "providers/basic_auth.h"
#include "providers/registry.h"
#include "store/backlog.h"
#include "store/connection_pool.h"
#include "store/event_queue.h"
#include "store/migrator.h"
#include "store/pooled_event_queue.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"
#include "worker/event_runner.h"
#include "worker/maintenance.h"
#include "worker/worker_pool.h"

namespace hookgate {
namespace {

// The configuration has checked that there is one.
Handler* handler_named(std::string_view name,
                       const std::vector<std::unique_ptr<Handler>>& handlers) {
  return std::ranges::find(handlers, name, [](const auto& handler) { return handler->name(); })
      ->get();
}

SourceMap make_sources(const Config& config, const std::vector<std::unique_ptr<Handler>>& handlers,
                       bool has_extras) {
  SourceMap sources;
  for (const auto& configured : config.sources) {
    Source source;
    source.name = configured.name;
    source.live = configured.live;
    source.accounts = configured.accounts;
    source.allow = configured.allow;
    source.rate_limit = configured.rate_limit;
    auto provider = make_provider(configured.provider, configured.settings);
    if (configured.basic_auth) {
      provider = with_basic_auth(std::move(provider), configured.basic_auth->user,
                                 configured.basic_auth->password);
    }
    source.provider = std::move(provider);
    source.has_handlers = !configured.handlers.empty() || has_extras;
    if (!configured.respond.empty()) source.respond = handler_named(configured.respond, handlers);
    sources.emplace(configured.name, std::move(source));
  }
  return sources;
}

std::vector<HandledSource> make_handled_sources(
    const Config& config, const std::vector<std::unique_ptr<Handler>>& handlers,
    const std::vector<std::unique_ptr<Handler>>& extras) {
  std::vector<HandledSource> sources;
  for (const auto& configured : config.sources) {
    HandledSource source{configured.name, configured.provider, {}};
    for (const auto& name : configured.handlers)
      source.handlers.push_back(handler_named(name, handlers));
    for (const auto& extra : extras) source.handlers.push_back(extra.get());
    sources.push_back(std::move(source));
  }
  return sources;
}

// `fresh` with the handlers that run: those of its sources change only with a restart.
Config with_handlers_of(const Config& running, Config fresh) {
  for (auto& source : fresh.sources) {
    const auto same = std::ranges::find(running.sources, source.name, &SourceConfig::name);
    source.handlers = same->handlers;
    source.respond = same->respond;
  }
  return fresh;
}

std::vector<std::string> source_names(const Config& config) {
  std::vector<std::string> names;
  for (const auto& source : config.sources) names.push_back(source.name);
  std::ranges::sort(names);
  return names;
}

// The configuration has checked the form.
std::pair<std::string, int> split_address(const std::string& listen) {
  const auto address = parse_listen_address(listen).value();
  return {address.host, address.port};
}

PoolSettings pool_settings(const Config& config, std::size_t connections, bool synchronous_commit) {
  PoolSettings settings;
  settings.url = config.database.url;
  settings.connections_max = connections;
  settings.session.synchronous_commit = synchronous_commit;
  return settings;
}

PoolSettings ingest_pool_settings(const Config& config, std::size_t connections) {
  auto settings = pool_settings(config, connections, true);
  // A request waits for this statement; past its own deadline it has been answered 503 anyway.
  settings.session.statement_timeout = std::chrono::milliseconds{4'500};
  settings.session.lock_timeout = std::chrono::milliseconds{4'000};
  settings.session.goes_by_index = true;
  return settings;
}

// A client waits for the answer, and the others for the thread.
PoolSettings respond_pool_settings(const Config& config, std::size_t connections) {
  auto settings = pool_settings(config, connections, true);
  settings.session.statement_timeout = std::chrono::milliseconds{4'500};
  settings.session.lock_timeout = std::chrono::milliseconds{2'000};
  return settings;
}

// Every statement of it goes by an index of events, however small the table was when it was
// planned.
PoolSettings claim_pool_settings(const Config& config, std::size_t connections) {
  auto settings = pool_settings(config, connections, false);
  settings.session.goes_by_index = true;
  return settings;
}

PoolSettings run_pool_settings(const Config& config, std::size_t connections) {
  auto settings = pool_settings(config, connections, true);
  const auto limit = config.workers.handler_timeout;
  settings.session.statement_timeout = limit;
  settings.session.lock_timeout = std::min(settings.session.lock_timeout, limit / 2);
  // A handler that hangs elsewhere loses its locks along with the event.
  settings.session.idle_in_transaction_timeout = limit + kLeaseMargin;
  return settings;
}

// For scrapes: they want an answer soon or none.
PoolSettings backlog_pool_settings(const Config& config) {
  auto settings = pool_settings(config, 1, true);
  settings.session.statement_timeout = std::chrono::milliseconds{1'000};
  return settings;
}

void declare_sources(Metrics& metrics, const Config& config) {
  for (const auto& source : config.sources) {
    metrics.declare_source(source.name,
                           source.settings.secrets.size() + source.settings.clients.size());
  }
}

ListenerSettings listener_settings(const Config& config) {
  ListenerSettings settings;
  if (const auto path = unix_socket_path(config.server.listen)) {
    settings.host = *path;
    settings.port = ListenerSettings::kUnixSocket;
  } else {
    std::tie(settings.host, settings.port) = split_address(config.server.listen);
  }
  settings.connections_max = config.server.max_connections;
  settings.connections_per_address_max = config.server.max_connections_per_address;
  settings.trusted_proxies = config.server.trusted_proxies;
  settings.request_timeout = config.server.request_timeout;
  // Slow peers may use up most of it, but not what commits and handlers need to end well.
  settings.shutdown_grace = config.server.shutdown_grace * 3 / 4;
  settings.tls_certificate = config.server.tls_certificate;
  settings.tls_key = config.server.tls_key;
  return settings;
}

std::unique_ptr<Listener> make_listener(const Config& config, Receiver& receiver,
                                        Metrics& metrics) {
  auto settings = listener_settings(config);
  settings.metrics = &metrics;
  if (config.server.listener == "httplib")
    return make_httplib_listener(std::move(settings), receiver);
  return make_reactor_listener(std::move(settings), receiver);
}

ReceiverSettings receiver_settings(const Config& config, Metrics& metrics) {
  ReceiverSettings settings;
  settings.metrics = &metrics;
  settings.body_bytes_max = config.server.max_body_bytes;
  settings.trusted_proxies = config.server.trusted_proxies;
  settings.trust_unix_socket = config.server.trust_unix_socket;
  return settings;
}

RunnerSettings runner_settings(const Config& config, std::int32_t instance, Metrics& metrics) {
  RunnerSettings settings;
  settings.instance = instance;
  settings.metrics = &metrics;
  settings.handler_timeout = config.workers.handler_timeout;
  settings.lease = config.workers.handler_timeout + kLeaseMargin;
  settings.lone_lease = 2 * settings.lease;
  settings.failures_max = config.workers.max_attempts;
  settings.crashes_max = std::max(30, 2 * config.workers.max_attempts);
  return settings;
}

WorkerPoolSettings worker_pool_settings(const Config& config) {
  WorkerPoolSettings settings;
  settings.threads = config.workers.count;
  return settings;
}

MaintenanceSettings maintenance_settings(const Config& config) {
  MaintenanceSettings settings;
  settings.bodies = config.retention.bodies;
  settings.keys = key_retention(config);
  return settings;
}

}  // namespace

std::vector<std::unique_ptr<Handler>> make_handlers(const Config& config) {
  std::vector<std::unique_ptr<Handler>> handlers;
  for (const auto& settings : config.handlers) handlers.push_back(make_handler(settings));
  return handlers;
}

std::vector<KeyRetention> key_retention(const Config& config) {
  std::vector<KeyRetention> keys;
  for (const auto& source : config.sources) keys.push_back({source.name, source.retain});
  return keys;
}

void check_handlers(Connection& connection, std::span<const std::unique_ptr<Handler>> handlers) {
  in_event_transaction(connection, [handlers](EventTransaction& transaction) {
    for (const auto& handler : handlers) handler->check(transaction.sql());
  });
}

// In the order of construction; destroyed in reverse.
struct App::Parts {
  Parts(const Config& config, const Clock& clock,
        std::vector<std::unique_ptr<Handler>> extra_handlers)
      : ingest_pool(ingest_pool_settings(config, static_cast<std::size_t>(kWriters))),
        claim_pool(claim_pool_settings(config, worker_connections(config))),
        run_pool(run_pool_settings(config, worker_connections(config))),
        respond_pool(respond_pool_settings(config, kResponders)),
        duty_pool(pool_settings(config, kDutyConnections, true)),
        backlog_pool(backlog_pool_settings(config)),
        handlers(make_handlers(config)),
        extras(std::move(extra_handlers)),
        event_queue(claim_pool, run_pool),
        runner(event_queue, make_handled_sources(config, handlers, extras), clock,
               runner_settings(config, instance, metrics)),
        outbox(make_outbox(config, clock, instance, metrics)),
        workers([this] { return run_events(runner, *outbox); }, worker_pool_settings(config)),
        maintenance(duty_pool, clock, maintenance_settings(config)),
        queue(ingest_pool, commit_queue_settings(metrics), [this] { workers.wake(); }),
        responder(respond_pool, clock, responder_settings(metrics), [this] { workers.wake(); }),
        receiver(make_sources(config, handlers, !extras.empty()), queue, responder, clock,
                 receiver_settings(config, metrics), [this] { return is_ready(); }),
        listener(make_listener(config, receiver, metrics)),
        admin(admin_settings(config), [this] { return is_ready(); }) {
    declare_sources(metrics, config);
    for (const auto& handler : handlers) metrics.declare_handler(handler->name());
    for (const auto& handler : extras) metrics.declare_handler(handler->name());
  }

  static constexpr int kWriters = 2;
  static constexpr std::size_t kDutyConnections = 2;
  static constexpr std::size_t kResponders = 4;

  static std::size_t worker_connections(const Config& config) {
    return static_cast<std::size_t>(std::max(1, config.workers.count));
  }

  static CommitQueueSettings commit_queue_settings(Metrics& metrics) {
    CommitQueueSettings settings;
    settings.writers = kWriters;
    settings.metrics = &metrics;
    return settings;
  }

  static ResponderSettings responder_settings(Metrics& metrics) {
    ResponderSettings settings;
    settings.threads = static_cast<int>(kResponders);
    settings.metrics = &metrics;
    return settings;
  }

  AdminSettings admin_settings(const Config& config) {
    AdminSettings settings;
    std::tie(settings.host, settings.port) = split_address(config.admin.listen);
    settings.token = config.admin.token;
    settings.metrics = &metrics;
    settings.read_backlog = [this] {
      auto lease = backlog_pool.acquire(std::chrono::milliseconds{500});
      return read_backlog(*lease);
    };
    return settings;
  }

  // Asked by every probe, so the answer is kept for a moment.
  bool is_ready() {
    const std::scoped_lock lock{ready_mutex};
    const auto now = std::chrono::steady_clock::now();
    if (now - ready_at < std::chrono::milliseconds{500}) return ready;
    try {
      auto lease = duty_pool.acquire(std::chrono::milliseconds{500});
      ready = schema_state(*lease).up_to_date();
    } catch (const std::exception&) {
      ready = false;
    }
    ready_at = std::chrono::steady_clock::now();
    return ready;
  }

  Metrics metrics;
  const std::int32_t instance = fresh_instance();
  ConnectionPool ingest_pool;
  ConnectionPool claim_pool;
  ConnectionPool run_pool;
  ConnectionPool respond_pool;
  ConnectionPool duty_pool;
  ConnectionPool backlog_pool;
  std::vector<std::unique_ptr<Handler>> handlers;
  std::vector<std::unique_ptr<Handler>> extras;
  PooledEventQueue event_queue;
  EventRunner runner;
  std::unique_ptr<Outbox> outbox;
  WorkerPool workers;
  Maintenance maintenance;
  CommitQueue queue;
  Responder responder;
  Receiver receiver;
  std::unique_ptr<Listener> listener;
  AdminServer admin;
  std::mutex ready_mutex;
  bool ready = false;                                // guarded by ready_mutex
  std::chrono::steady_clock::time_point ready_at{};  // guarded by ready_mutex
  std::jthread notifications;
};

App::App(Config config, Clock clock) : config_(std::move(config)), clock_(std::move(clock)) {}

App::~App() {
  stop();
}

void App::add_handler(std::unique_ptr<Handler> handler) {
  extra_handlers_.push_back(std::move(handler));
}

void App::start() {
  // A peer that goes away while we write must be an error of that write, not the end of the
  // process.
  std::signal(SIGPIPE, SIG_IGN);
  parts_ = std::make_unique<Parts>(config_, clock_, std::move(extra_handlers_));
  auto& parts = *parts_;
  {
    auto lease = parts.duty_pool.acquire();
    if (config_.database.migrate) {
      Connection connection{config_.database.url, {}};
      for (const int version : migrate(connection)) {
        log(LogLevel::kInfo, "migration applied", {{"version", version}});
      }
    }
    const auto schema = schema_state(*lease);
    if (schema.current > schema.latest)
      throw SchemaTooNew("the database has a newer schema than this program");
    if (!schema.up_to_date()) {
      throw SchemaBehind("the schema is at version " + std::to_string(schema.current) + " of " +
                         std::to_string(schema.latest) + "; run `hookgate migrate`");
    }
    check_handlers(*lease, parts.handlers);
    check_handlers(*lease, parts.extras);
    ensure_body_partitions(*lease, clock_());
  }
  start_workers();
  parts.queue.start();
  parts.responder.start();
  parts.listener->start();
  start_admin();
}

// Presence first: a claim of a process that nobody sees would be taken for a dead one's.
void App::start_workers() {
  auto& parts = *parts_;
  if (config_.workers.count > 0) {
    const auto listening = std::make_shared<std::promise<void>>();
    const auto began = std::make_shared<std::once_flag>();
    parts.notifications = std::jthread{[this, listening, began](const std::stop_token& stop) {
      listen_for_events(stop, config_.database.url, parts_->duty_pool,
                        {.instance = parts_->instance}, [&] {
                          std::call_once(*began, [&] { listening->set_value(); });
                          parts_->workers.wake();
                        });
    }};
    if (listening->get_future().wait_for(std::chrono::seconds{10}) != std::future_status::ready) {
      throw StoreUnavailable("the database did not let us listen in time");
    }
  }
  parts.maintenance.start();
  parts.outbox->start();
  parts.workers.start();
}

// A second gateway on one machine finds the default address taken; it must run all the same. An
// address that somebody wrote down must be had.
void App::start_admin() {
  try {
    parts_->admin.start();
  } catch (const std::exception& error) {
    if (config_.admin.listen_is_given) throw;
    log(LogLevel::kWarn, "no admin listener", {{"reason", std::string_view{error.what()}}});
  }
}

void App::stop() noexcept {
  if (!parts_) return;
  auto& parts = *parts_;
  // Messages under way have as long as slow peers have; rows written meanwhile are sent by others,
  // or after the next start.
  const auto sends_end = std::chrono::steady_clock::now() + config_.server.shutdown_grace * 3 / 4;
  parts.outbox->request_stop();
  parts.receiver.drain();
  parts.listener->stop();
  parts.responder.stop();
  parts.queue.stop();
  parts.workers.stop();
  parts.outbox->stop(sends_end);
  parts.maintenance.stop();
  parts.notifications.request_stop();
  if (parts.notifications.joinable()) parts.notifications.join();
  parts.admin.stop();
}

bool App::reload(const Config& config) {
  if (source_names(config) != source_names(config_)) return false;
  declare_sources(parts_->metrics, config);
  parts_->receiver.replace_sources(
      make_sources(with_handlers_of(config_, config), parts_->handlers, !parts_->extras.empty()));
  try {
    parts_->listener->reload_tls();
  } catch (const ListenError& error) {
    log(LogLevel::kError, "certificate not reloaded, the old one stays",
        {{"reason", std::string_view{error.what()}}});
  }
  return true;
}

std::string App::public_address() const {
  return parts_->listener->address();
}
std::string App::admin_address() const {
  return parts_->admin.address();
}

void App::run_maintenance() {
  parts_->maintenance.run_once();
}

}  // namespace hookgate
