#include "app_outbox.h"

#include <utility>
#include <vector>

#include "handlers/forward/forward.h"
#include "outbox/http_sender.h"
#include "providers/registry.h"

namespace hookgate {
namespace {

std::unique_ptr<MessageSender> make_http_sender(const ForwardSettings& forward,
                                                const Clock& clock) {
  HttpSenderSettings settings;
  settings.url = forward.url;
  settings.timeout = forward.timeout;
  settings.refuse_private_addresses = forward.refuse_private_addresses;
  settings.connections_kept_max = static_cast<std::size_t>(forward.concurrency);
  ProviderSettings signing;
  signing.secrets = {forward.secret};
  return std::make_unique<HttpSender>(std::move(settings),
                                      make_provider("standard-webhooks", signing), clock);
}

RelaySettings relay_settings(const HandlerSettings& handler, std::int32_t instance,
                             Metrics& metrics) {
  RelaySettings settings;
  settings.destination = handler.name;
  settings.concurrency = handler.forward->concurrency;
  settings.attempts_max = handler.forward->max_attempts;
  settings.ordered = handler.forward->ordered;
  settings.instance = instance;
  settings.metrics = &metrics;
  return settings;
}

PoolSettings session_settings(const Config& config, int threads, bool synchronous_commit) {
  PoolSettings settings;
  settings.url = config.database.url;
  settings.connections_max = outbox_sessions(threads);
  settings.session.synchronous_commit = synchronous_commit;
  settings.session.goes_by_index = true;
  return settings;
}

}  // namespace

std::unique_ptr<Outbox> make_outbox(const Config& config, const Clock& clock, std::int32_t instance,
                                    Metrics& metrics) {
  std::vector<OutboxDestination> destinations;
  int threads = 0;
  for (const auto& handler : config.handlers) {
    if (!handler.forward || config.workers.count == 0) continue;
    metrics.declare_destination(handler.name);
    threads += handler.forward->concurrency;
    destinations.push_back(
        {relay_settings(handler, instance, metrics), make_http_sender(*handler.forward, clock)});
  }
  return std::make_unique<Outbox>(session_settings(config, threads, false),
                                  session_settings(config, threads, true), std::move(destinations));
}

std::size_t run_events(EventRunner& runner, Outbox& outbox) {
  const auto before = ForwardHandler::written_by_this_thread();
  const auto events = runner.run_once();
  if (ForwardHandler::written_by_this_thread() != before) outbox.wake();
  return events;
}

}  // namespace hookgate
