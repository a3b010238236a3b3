#include "cli/command_line.h"

#include <cstdio>
#include <functional>

#include <CLI/CLI.hpp>

#include "app.h"
#include "cli/commands.h"
#include "cli/outbox_command.h"
#include "config_values.h"
#include "domain/time.h"
#include "version.h"

namespace hookgate {
namespace {

constexpr auto kDescription =
    "hookgate receives webhooks of payment providers: it verifies each over its raw bytes, records "
    "the\n"
    "event once in PostgreSQL before it answers 2xx, and updates the payments ledger once.\n\n"
    "Try it:  hookgate dev\n"
    "Exit codes: 0 done; 1 the work failed; 2 wrong usage or configuration; 3 database or gateway "
    "not reached";

using Action = std::function<int()>;

CLI::App* add(CLI::App& parent, const std::string& name, const std::string& description,
              const std::string& example) {
  auto* command = parent.add_subcommand(name, description);
  command->footer("\nExample:\n  " + example);
  return command;
}

void add_config(CLI::App& command, std::string& config) {
  command
      .add_option(
          "--config", config,
          "Configuration file [$HOOKGATE_CONFIG, ./hookgate.toml, ./.hookgate/hookgate.toml]")
      ->type_name("F");
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print JSON, one object a line");
}

// An instant as RFC 3339 or a day.
SystemTime instant_option(const std::string& text) {
  const auto instant = parse_instant(text.size() == 10 ? text + "T00:00:00Z" : text);
  if (!instant)
    throw CLI::ValidationError("'" + text + "' is not an instant like 2026-01-31T12:00:00Z");
  return *instant;
}

void add_instant(CLI::App& command, const std::string& name, std::optional<SystemTime>& target,
                 const std::string& description) {
  command
      .add_option_function<std::string>(
          name, [&target](const std::string& text) { target = instant_option(text); }, description)
      ->type_name("TIME");
}

struct Options {
  ServeOptions serve;
  DevOptions dev;
  ConfigOptions config;
  ReplayCommandOptions replay;
  BenchOptions bench;
  SignOptions sign;
  VerifyOptions verify;
  EventsListOptions events_list;
  EventControlOptions events_retry;
  EventControlOptions events_discard;
  ShowOptions show;
  PaymentsListOptions payments_list;
  OutboxOptions outbox;
};

void add_running(CLI::App& app, Options& options, Action& action) {
  auto* serve =
      add(app, "serve", "Run the gateway. SIGTERM drains and ends, SIGHUP reloads secrets",
          "hookgate serve --config hookgate.toml");
  add_config(*serve, options.serve.config);
  serve->callback([&] { action = [&] { return serve_command(options.serve); }; });

  auto* dev = add(app, "dev", "Run a ready gateway on a private PostgreSQL, to try things out",
                  "hookgate dev --data-dir /tmp/try --listen 127.0.0.1:8080");
  dev->add_option("--data-dir", options.dev.data_dir, "Where the cluster and hookgate.toml live")
      ->type_name("D")
      ->capture_default_str();
  dev->add_option("--listen", options.dev.listen, "Public address [127.0.0.1:8080]")
      ->type_name("A");
  dev->add_option("--admin-listen", options.dev.admin_listen, "Admin address [127.0.0.1:8081]")
      ->type_name("A");
  dev->add_option("--fixtures", options.dev.fixtures, "Folder of fixtures for --once")
      ->type_name("DIR");
  dev->add_flag("--once", options.dev.once,
                "Replay all fixtures twice, shuffled; print the summary and the payments; exit");
  add_json(*dev, options.dev.json);
  dev->callback([&] { action = [&] { return dev_command(options.dev); }; });
}

void add_database(CLI::App& app, Options& options, Action& action) {
  auto* migrate = add(app, "migrate", "Bring the database schema up to date",
                      "hookgate migrate --config hookgate.toml");
  add_config(*migrate, options.config.config);
  migrate->callback([&] { action = [&] { return migrate_command(options.config); }; });

  auto* check = add(app, "check", "Validate the configuration and, with --connect, the database",
                    "hookgate check --config hookgate.toml --connect");
  add_config(*check, options.config.config);
  check->add_flag("--connect", options.config.connect, "Also connect and compare the schema");
  add_json(*check, options.config.json);
  check->callback([&] { action = [&] { return check_command(options.config); }; });

  auto* prune = add(app, "prune", "Apply retention now", "hookgate prune --config hookgate.toml");
  add_config(*prune, options.config.config);
  add_json(*prune, options.config.json);
  prune->callback([&] { action = [&] { return prune_command(options.config); }; });
}

void add_replay(CLI::App& app, Options& options, Action& action) {
  auto& replay = options.replay;
  auto* command =
      add(app, "replay", "Send captured fixtures to a gateway and tell what became of them",
          "hookgate replay fixtures --to http://127.0.0.1:8080 --times 2 --shuffle 7");
  command->add_option("paths", replay.paths, "Fixture files; a folder means all below it")
      ->required()
      ->type_name("PATH");
  command->add_option("--to", replay.to, "The gateway, without the path")
      ->required()
      ->type_name("URL");
  add_config(*command, replay.config);
  command
      ->add_option("--secret", replay.secret, "Sign with this secret (env:NAME and file:PATH work)")
      ->type_name("S");
  command->add_option("--provider", replay.provider, "Sign as this provider")->type_name("P");
  command->add_option("--times", replay.times, "Send each fixture so often")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--shuffle", replay.shuffle, "Send in a random order, repeatable by its seed")
      ->type_name("SEED");
  command->add_option("--concurrency", replay.concurrency, "Connections at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--rate", replay.rate,
                   "At most so many requests a second; 0: as fast as it goes")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--keep-signature", replay.keep_signature,
                    "Send as captured, do not sign afresh");
  add_json(*command, replay.json);
  command->callback([&] { action = [&] { return replay_command(options.replay); }; });
}

// "5%", or "0.05".
double share_option(const std::string& text) {
  std::size_t used = 0;
  double share = -1;
  try {
    share = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  const auto unit = text.substr(used);
  if (unit == "%") share /= 100;
  if (used == 0 || (!unit.empty() && unit != "%") || !(share >= 0 && share <= 1)) {
    throw CLI::ValidationError("'" + text + "' is not a share like 5%");
  }
  return share;
}

void add_share(CLI::App& command, const std::string& name, double& target,
               const std::string& description) {
  command
      .add_option_function<std::string>(
          name, [&target](const std::string& text) { target = share_option(text); }, description)
      ->type_name("SHARE");
}

std::chrono::milliseconds duration_option(const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) throw CLI::ValidationError("'" + text + "' is not a duration like 10s");
  return *duration;
}

std::int64_t size_option(const std::string& text) {
  const auto size = parse_size(text);
  if (!size) throw CLI::ValidationError("'" + text + "' is not a size like 3KiB");
  return *size;
}

void add_bench_load(CLI::App& command, BenchOptions& bench) {
  command.add_option("--connections", bench.connections, "Connections, kept alive")
      ->check(CLI::Range(1, 10'000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--duration", [&](const std::string& text) { bench.duration = duration_option(text); },
          "How long to send [10s]")
      ->type_name("D");
  command
      .add_option("--count", bench.count, "End after so many requests; 0: when the time is over")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--rate", bench.rate,
                  "Requests a second, sent at their moments whether or not earlier ones were "
                  "answered; latency counts from that moment. 0: each connection sends when its "
                  "answer is there")
      ->check(CLI::NonNegativeNumber)
      ->type_name("R")
      ->capture_default_str();
  add_share(command, "--duplicates", bench.duplicates,
            "Accepted events that are sent again, signed afresh [5%]");
  add_share(command, "--bad-signatures", bench.forged, "Requests that must be refused [0%]");
  command
      .add_option_function<std::string>(
          "--body", [&](const std::string& text) { bench.body_bytes = size_option(text); },
          "Size of a body, at most 1MiB [3KiB]")
      ->type_name("SIZE");
}

void add_bench(CLI::App& app, Options& options, Action& action) {
  auto& bench = options.bench;
  auto* command = add(
      app, "bench",
      "Load test: sends freshly signed events and checks every answer.\nIt writes real events (ids "
      "with \"bench\" in them) to the gateway's database, and its\nhandlers run for them: never "
      "use "
      "it on a database that matters.",
      "hookgate bench --to http://127.0.0.1:8080 --source stripe --connections 64 --duration 10s");
  command->add_option("--to", bench.to, "The gateway, without the path; or unix:/path")
      ->required()
      ->type_name("URL");
  command->add_option("--source", bench.source, "Which source of the configuration to act for")
      ->required()
      ->type_name("S");
  add_config(*command, bench.config);
  add_bench_load(*command, bench);
  command->add_flag("--allow-remote", bench.allow_remote,
                    "Allow a gateway that is not on this machine");
  add_json(*command, bench.json);
  command->callback([&] { action = [&] { return bench_command(options.bench); }; });
}

void add_signing(CLI::App& app, Options& options, Action& action) {
  auto* sign = add(app, "sign", "Print a fixture with a fresh signature",
                   "hookgate sign fixtures/stripe/charge.succeeded.http --provider stripe --secret "
                   "env:STRIPE_WEBHOOK_SECRET");
  sign->add_option("path", options.sign.path, "The fixture")->required()->type_name("PATH");
  sign->add_option("--provider", options.sign.provider, "Whose way of signing")
      ->required()
      ->type_name("P");
  sign->add_option("--secret", options.sign.secret, "The secret (env:NAME and file:PATH work)")
      ->required()
      ->type_name("S");
  sign->add_option("--scheme", options.sign.scheme, "Adyen: item or header")
      ->check(CLI::IsMember({"item", "header"}));
  sign->add_option("--at", options.sign.at, "Unix seconds instead of now")->type_name("UNIX");
  sign->callback([&] { action = [&] { return sign_command(options.sign); }; });

  auto* verify = add(app, "verify", "Judge a fixture offline and explain",
                     "hookgate verify captured/1.http --config hookgate.toml --source stripe");
  verify->add_option("path", options.verify.path, "The fixture")->required()->type_name("PATH");
  add_config(*verify, options.verify.config);
  verify->add_option("--source", options.verify.source, "The source it was sent to")
      ->required()
      ->type_name("NAME");
  verify->add_option("--at", options.verify.at, "Judge as of these Unix seconds [now]")
      ->type_name("UNIX");
  add_json(*verify, options.verify.json);
  verify->callback([&] { action = [&] { return verify_command(options.verify); }; });
}

// Options that say which events are meant.
CLI::Option* add_event_filter(CLI::App& command, EventFilter& filter) {
  command.add_option("--source", filter.source, "Of this source")->type_name("NAME");
  command.add_option("--type", filter.type, "Of this type; * stands for any text")
      ->type_name("GLOB");
  command.add_option("--subject", filter.subject, "About this object (pi_..., PSP reference)")
      ->type_name("ID");
  command.add_option("--status", filter.status, "In this state")
      ->check(CLI::IsMember({"pending", "done", "ignored", "dead", "discarded"}));
  add_instant(command, "--since", filter.since, "Received at or after");
  add_instant(command, "--until", filter.until, "Received before");
  return command.add_option("--limit", filter.limit, "At most so many")
      ->check(CLI::Range(1, 1'000'000));
}

void add_event_control(CLI::App& command, EventControlOptions& options) {
  command.add_option("ids", options.ids, "Our ids or the sender's")->type_name("ID");
  command.add_flag("--dead", options.dead, "Those that are dead");
  add_event_filter(command, options.filter);
  command.add_flag("--dry-run", options.dry_run, "Change nothing, say how many it would be");
  add_config(command, options.config);
  add_json(command, options.json);
}

void add_events_control(CLI::App& events, Options& options, Action& action) {
  auto* retry = add(events, "retry",
                    "Run the handlers of dead events again, now; those that succeeded for an event "
                    "are never run\nagain for it. By id also discarded events and those that wait "
                    "for their next try; by filter\nthe dead ones unless --status says otherwise",
                    "hookgate events retry --dead --source stripe --since 2026-01-01 --dry-run");
  add_event_control(*retry, options.events_retry);
  retry->add_flag("--force", options.events_retry.force,
                  "Also done and ignored events: for handlers that are new or that ignored them");
  retry->callback([&] { action = [&] { return events_retry_command(options.events_retry); }; });

  auto* discard = add(events, "discard",
                      "Give up pending and dead events for good: no handler runs for them any "
                      "more. One that is\nbeing run is taken from its worker",
                      "hookgate events discard --dead --type 'invoice.*'");
  add_event_control(*discard, options.events_discard);
  discard->callback(
      [&] { action = [&] { return events_discard_command(options.events_discard); }; });
}

void add_events(CLI::App& app, Options& options, Action& action) {
  auto* events = add(app, "events", "Look at stored events, retry and discard them",
                     "hookgate events list --status dead");
  events->require_subcommand(1);
  auto* list = add(*events, "list", "Stored events, newest first",
                   "hookgate events list --source stripe --type 'charge.*' --since 2026-01-01");
  add_config(*list, options.events_list.config);
  add_event_filter(*list, options.events_list.filter)->capture_default_str();
  add_json(*list, options.events_list.json);
  list->callback([&] { action = [&] { return events_list_command(options.events_list); }; });

  auto* show =
      add(*events, "show", "One event with its bodies", "hookgate events show evt_fx_0001");
  show->add_option("id", options.show.id, "Our id or the sender's")->required()->type_name("ID");
  add_config(*show, options.show.config);
  show->add_flag("--body", options.show.body, "Print the first body's bytes and nothing else");
  add_json(*show, options.show.json);
  show->callback([&] { action = [&] { return events_show_command(options.show); }; });
  add_events_control(*events, options, action);
}

void add_payments(CLI::App& app, Options& options, Action& action) {
  auto* payments = add(app, "payments", "Look at the ledger", "hookgate payments list");
  payments->require_subcommand(1);
  auto& filter = options.payments_list.filter;
  auto* list = add(*payments, "list", "One row a payment, the last changed first",
                   "hookgate payments list --status disputed");
  add_config(*list, options.payments_list.config);
  list->add_option("--provider", filter.provider, "Of this provider")->type_name("NAME");
  list->add_option("--status", filter.status, "In this state")->type_name("STATUS");
  list->add_option("--reference", filter.reference, "Of this order")->type_name("REF");
  list->add_option("--flag", filter.flag, "With this flag")
      ->check(CLI::IsMember({"over_returned", "duplicate_payment", "needs_review"}));
  list->add_option("--limit", filter.limit, "At most so many")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add_json(*list, options.payments_list.json);
  list->callback([&] { action = [&] { return payments_list_command(options.payments_list); }; });

  auto* show =
      add(*payments, "show", "One payment with its facts", "hookgate payments show pi_fx_01");
  show->add_option("id", options.show.id, "The provider's id of the payment")
      ->required()
      ->type_name("ID");
  add_config(*show, options.show.config);
  add_json(*show, options.show.json);
  show->callback([&] { action = [&] { return payments_show_command(options.show); }; });
}

int usage_error(const std::string& message) {
  std::fprintf(stderr, "hookgate: %s\n", message.c_str());
  return kExitUsage;
}

// The exit code of a usage fault; help and version are no faults.
int parse_failure(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  return usage_error(std::string{error.what()} + " (see `hookgate --help`)");
}

// CLI11 only says that a subcommand is missing; say which word it did not know.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) return "";
  }
  return std::string{"unknown command '"} + argv[1] + "' (see `hookgate --help`)";
}

int run_guarded(const Action& action) {
  try {
    return action();
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitUsage;
  } catch (const InvalidHandler& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitUsage;
  } catch (const UsageError& error) {
    return usage_error(error.what());
  } catch (const StoreUnavailable& error) {
    std::fprintf(stderr, "hookgate: %s\n", error.what());
    return kExitUnreachable;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hookgate: %s\n", error.what());
    return kExitFailed;
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{kDescription, "hookgate"};
  app.set_version_flag("--version", std::string{"hookgate "} + kVersion);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of every command");
  app.get_formatter()->column_width(32);
  Options options;
  Action action;
  add_running(app, options, action);
  add_database(app, options, action);
  add_replay(app, options, action);
  add_bench(app, options, action);
  add_signing(app, options, action);
  add_events(app, options, action);
  add_payments(app, options, action);
  add_outbox_commands(app, options.outbox, action);
  if (const auto unknown = unknown_command(app, argc, argv); !unknown.empty()) {
    return usage_error(unknown);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_failure(app, error);
  }
  return run_guarded(action);
}

}  // namespace hookgate
