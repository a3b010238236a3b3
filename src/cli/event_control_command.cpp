#include <cstdio>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "config.h"
#include "domain/text.h"

namespace hookgate {
namespace {

using nlohmann::ordered_json;

// What one of the two commands calls what it does.
struct Words {
  const char* command;
  const char* done;
};
constexpr Words kRetry{"retry", "retried"};
constexpr Words kDiscard{"discard", "discarded"};

bool narrows(const EventFilter& filter) {
  return filter.source || filter.type || filter.subject || filter.status || filter.since ||
         filter.until;
}

// Throws UsageError unless the options say which events are meant.
EventSelection selection_of(const EventControlOptions& options, const Words& words) {
  EventSelection selection{options.ids, options.filter};
  auto& filter = selection.filter;
  if (options.dead) {
    if (filter.status && *filter.status != "dead")
      throw UsageError("--dead and --status " + *filter.status + " contradict each other");
    filter.status = "dead";
  }
  const std::string command = std::string{"events "} + words.command;
  if (selection.ids.empty() && !narrows(filter))
    throw UsageError(command + " needs ids, --dead or another filter; it never takes everything");
  if (!selection.ids.empty() && filter.limit != kEveryEvent)
    throw UsageError("--limit cannot be used with ids");
  return selection;
}

std::string shown(const std::string& text) {
  std::string safe = clean_text(text, text.size() * 3);
  for (auto& c : safe) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return safe;
}

void print_json(const ControlResult& result, const Words& words, bool dry_run) {
  ordered_json json{{dry_run ? "matching" : words.done, result.events},
                    {"dry_run", dry_run},
                    {"refused", ordered_json::array()},
                    {"unknown", ordered_json::array()}};
  for (const auto& refused : result.refused) {
    json["refused"].push_back({{"id", refused.id},
                               {"source", refused.source},
                               {"event_id", refused.event_id},
                               {"reason", refused.reason}});
  }
  for (const auto& id : result.unknown_ids) json["unknown"].push_back(id);
  const auto text = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

void print_text(const ControlResult& result, const Words& words, bool dry_run) {
  for (const auto& id : result.unknown_ids)
    std::fprintf(stderr, "hookgate: no event '%s'\n", shown(id).c_str());
  for (const auto& refused : result.refused) {
    std::fprintf(stderr, "hookgate: event %lld ('%s' of %s) %s; not %s\n",
                 static_cast<long long>(refused.id), shown(refused.event_id).c_str(),
                 shown(refused.source).c_str(), refused.reason.c_str(), words.done);
  }
  const char* noun = result.events == 1 ? "event" : "events";
  if (dry_run) {
    std::printf("would %s %zu %s\n", words.command, result.events, noun);
  } else {
    std::printf("%s %zu %s\n", words.done, result.events, noun);
  }
}

int report(const ControlResult& result, const Words& words, const EventControlOptions& options) {
  if (options.json) {
    print_json(result, words, options.dry_run);
  } else {
    print_text(result, words, options.dry_run);
  }
  return result.refused.empty() && result.unknown_ids.empty() ? kExitDone : kExitFailed;
}

Connection open(const EventControlOptions& options) {
  return Connection{load_config(config_path(options.config)).database.url, SessionSettings{}};
}

}  // namespace

int events_retry_command(const EventControlOptions& options) {
  const auto selection = selection_of(options, kRetry);
  const auto& status = selection.filter.status;
  if (!options.force && status && (*status == "done" || *status == "ignored"))
    throw UsageError("events that are " + *status + " are retried only with --force");
  auto connection = open(options);
  return report(retry_events(connection, selection, {options.force, options.dry_run}), kRetry,
                options);
}

int events_discard_command(const EventControlOptions& options) {
  const auto selection = selection_of(options, kDiscard);
  const auto& status = selection.filter.status;
  if (status && *status != "pending" && *status != "dead")
    throw UsageError("only pending and dead events can be discarded, not --status " + *status);
  auto connection = open(options);
  return report(discard_events(connection, selection, options.dry_run), kDiscard, options);
}

}  // namespace hookgate
