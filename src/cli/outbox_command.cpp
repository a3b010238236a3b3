#include "cli/outbox_command.h"

#include <cstdio>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/table.h"
#include "config.h"

namespace hookgate {
namespace {

using nlohmann::ordered_json;

Connection open(const std::string& config) {
  return Connection{load_config(config_path(config)).database.url, SessionSettings{}};
}

ordered_json optional_json(const std::optional<std::string>& text) {
  return text ? ordered_json(*text) : ordered_json(nullptr);
}

void print_json(const MessageRow& message) {
  const ordered_json json{{"id", message.id},
                          {"destination", message.destination},
                          {"idempotency_key", message.idempotency_key},
                          {"status", message.status},
                          {"attempts", message.attempts},
                          {"being_sent", message.is_being_sent},
                          {"event", message.event},
                          {"event_type", message.event_type},
                          {"subject", message.subject},
                          {"content_type", message.content_type},
                          {"body_bytes", message.body_bytes},
                          {"created_at", optional_json(message.created_at)},
                          {"due_at", optional_json(message.due_at)},
                          {"sent_at", optional_json(message.sent_at)},
                          {"discarded_at", optional_json(message.discarded_at)},
                          {"last_error", optional_json(message.last_error)}};
  std::printf("%s\n", json.dump(-1, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

struct Words {
  const char* done;   // "retried"
  const char* would;  // "would be retried"
  const char* not_now;
};

Words words_of(MessageChange change) {
  if (change == MessageChange::kRetry) return {"retried", "would be retried", "cannot be retried"};
  return {"discarded", "would be discarded", "cannot be discarded"};
}

const char* plural(std::size_t count) {
  return count == 1 ? "" : "s";
}

int change_one(Connection& connection, MessageChange change, const OutboxChangeOptions& options) {
  const auto id = *options.id;
  const auto words = words_of(change);
  const auto message = find_message(connection, id);
  if (!message) {
    std::fprintf(stderr, "hookgate: no message %lld in the outbox\n", static_cast<long long>(id));
    return kExitFailed;
  }
  const bool is_possible =
      can_change(change, *message) && (options.dry_run || change_message(connection, change, id));
  if (!is_possible) {
    std::fprintf(stderr, "hookgate: message %lld %s: it is %s\n", static_cast<long long>(id),
                 words.not_now, message->is_being_sent ? "being sent" : message->status.c_str());
    return kExitFailed;
  }
  std::printf("message %lld to %s %s\n", static_cast<long long>(id), message->destination.c_str(),
              options.dry_run ? words.would : words.done);
  return kExitDone;
}

CLI::App* add(CLI::App& parent, const std::string& name, const std::string& description,
              const std::string& example, std::string& config) {
  auto* command = parent.add_subcommand(name, description);
  command->footer("\nExample:\n  " + example);
  command
      ->add_option(
          "--config", config,
          "Configuration file [$HOOKGATE_CONFIG, ./hookgate.toml, ./.hookgate/hookgate.toml]")
      ->type_name("F");
  return command;
}

void add_change_options(CLI::App& command, OutboxChangeOptions& options) {
  command.add_option("id", options.id, "The message's id in `outbox list`")->type_name("ID");
  command.add_flag("--dead", options.dead, "All dead messages");
  command.add_option("--destination", options.destination, "With --dead: only of this handler")
      ->type_name("NAME");
  command.add_flag("--dry-run", options.dry_run, "Say what would be done, and do nothing");
}

void add_list(CLI::App& outbox, OutboxListOptions& options, std::function<int()>& action) {
  auto* list = add(outbox, "list", "Messages that are not sent, newest first",
                   "hookgate outbox list --status dead --destination crm", options.config);
  list->add_option("--status", options.filter.status, "In this state [pending and dead]")
      ->check(CLI::IsMember({"pending", "sent", "dead", "discarded"}));
  list->add_option("--destination", options.filter.destination, "Of this handler")
      ->type_name("NAME");
  list->add_option("--limit", options.filter.limit, "At most so many")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  list->add_flag("--json", options.json, "Print JSON, one object a line");
  list->callback([&] { action = [&] { return outbox_list_command(options); }; });
}

}  // namespace

void add_outbox_commands(CLI::App& app, OutboxOptions& options, std::function<int()>& action) {
  auto* outbox = app.add_subcommand("outbox", "Look at outgoing messages, retry or discard them");
  outbox->footer("\nExample:\n  hookgate outbox list --status dead");
  outbox->require_subcommand(1);
  add_list(*outbox, options.list, action);

  auto* retry =
      add(*outbox, "retry",
          "Send a message again at once, with all its tries, under its old key.\nOf one that is "
          "dead, discarded, or waiting for its next try",
          "hookgate outbox retry --dead --destination crm --dry-run", options.retry.config);
  add_change_options(*retry, options.retry);
  retry->callback([&] {
    action = [&] { return outbox_change_command(MessageChange::kRetry, options.retry); };
  });

  auto* discard = add(*outbox, "discard",
                      "Never send a dead or waiting message. A try under way is not called back",
                      "hookgate outbox discard 42", options.discard.config);
  add_change_options(*discard, options.discard);
  discard->callback([&] {
    action = [&] { return outbox_change_command(MessageChange::kDiscard, options.discard); };
  });
}

int outbox_list_command(const OutboxListOptions& options) {
  auto connection = open(options.config);
  const auto messages = list_messages(connection, options.filter);
  if (options.json) {
    for (const auto& message : messages) print_json(message);
    return kExitDone;
  }
  Table table{{"ID", "DESTINATION", "STATUS", "TRIES", "TYPE", "SUBJECT", "DUE", "LAST ERROR"},
              {0, 3}};
  for (const auto& message : messages) {
    table.add({std::to_string(message.id), message.destination, message.status,
               std::to_string(message.attempts), message.event_type, message.subject,
               message.is_being_sent ? "being sent" : message.due_at.value_or(""),
               message.last_error.value_or("")});
  }
  std::fputs(table.empty() ? "no messages\n" : table.text().c_str(), stdout);
  return kExitDone;
}

int outbox_change_command(MessageChange change, const OutboxChangeOptions& options) {
  if (options.id.has_value() == options.dead)
    throw UsageError(options.dead ? "give an id or --dead, not both"
                                  : "give the id of a message, or --dead");
  if (options.destination && !options.dead) throw UsageError("--destination goes with --dead");
  auto connection = open(options.config);
  if (options.id) return change_one(connection, change, options);
  const auto words = words_of(change);
  const auto count = options.dry_run ? count_dead(connection, options.destination)
                                     : change_dead(connection, change, options.destination);
  std::printf("%zu dead message%s %s\n", count, plural(count),
              options.dry_run ? words.would : words.done);
  return kExitDone;
}

}  // namespace hookgate
