#include <cstdio>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/table.h"
#include "config.h"
#include "domain/text.h"

namespace hookgate {
namespace {

using nlohmann::ordered_json;

ordered_json optional_json(const std::optional<std::string>& text) {
  return text ? ordered_json(*text) : ordered_json(nullptr);
}

ordered_json event_json(const EventRow& event) {
  return {{"id", event.id},
          {"source", event.source},
          {"scope", event.scope},
          {"event_id", event.event_id},
          {"event_type", event.event_type},
          {"subject", event.subject},
          {"status", event.status},
          {"attempts", event.attempts},
          {"deliveries", event.deliveries},
          {"occurred_at", optional_json(event.occurred_at)},
          {"received_at", optional_json(event.received_at)},
          {"done_at", optional_json(event.done_at)},
          {"last_error", optional_json(event.last_error)}};
}

void print_json(const ordered_json& json) {
  const auto text = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

Connection open(const std::string& config) {
  return Connection{load_config(config_path(config)).database.url, SessionSettings{}};
}

// What a terminal may be shown of outside bytes: control characters but line ends become '?'.
std::string printable(const std::string& bytes) {
  auto text = clean_text(bytes, bytes.size() * 3);
  for (auto& c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F) c = '?';
  }
  return text;
}

ordered_json body_json(const StoredBody& body) {
  return {{"kind", body.kind},
          {"received_at", body.received_at},
          {"item", body.item},
          {"head", clean_text(body.head, body.head.size() * 3)},
          {"body", clean_text(body.body, body.body.size() * 3)}};
}

void print_event(const EventRow& event, const std::vector<StoredBody>& bodies) {
  const auto line = [](const char* name, const std::string& value) {
    std::printf("%-12s %s\n", name, printable(value).c_str());
  };
  line("id", std::to_string(event.id));
  line("source", event.source);
  if (!event.scope.empty()) line("scope", event.scope);
  line("event_id", event.event_id);
  line("event_type", event.event_type);
  line("subject", event.subject);
  line("status", event.status);
  line("attempts", std::to_string(event.attempts));
  line("deliveries", std::to_string(event.deliveries));
  line("occurred_at", event.occurred_at.value_or("-"));
  line("received_at", event.received_at.value_or("-"));
  line("done_at", event.done_at.value_or("-"));
  if (event.last_error) line("last_error", *event.last_error);
  if (bodies.empty()) std::printf("\nIts body was removed by retention.\n");
  for (const auto& body : bodies) {
    std::printf("\n-- %s body, received %s, %zu bytes, item %d\n%s\n%s\n", body.kind.c_str(),
                body.received_at.c_str(), body.body.size(), body.item, printable(body.head).c_str(),
                printable(body.body).c_str());
  }
}

}  // namespace

int events_list_command(const EventsListOptions& options) {
  auto connection = open(options.config);
  const auto events = list_events(connection, options.filter);
  if (options.json) {
    for (const auto& event : events) print_json(event_json(event));
    return kExitDone;
  }
  Table table{{"ID", "SOURCE", "EVENT", "TYPE", "SUBJECT", "STATUS", "DELIVERIES", "RECEIVED"},
              {0, 6}};
  for (const auto& event : events) {
    table.add({std::to_string(event.id), event.source, event.event_id, event.event_type,
               event.subject, event.status, std::to_string(event.deliveries),
               event.received_at.value_or("")});
  }
  std::fputs(table.empty() ? "no events\n" : table.text().c_str(), stdout);
  return kExitDone;
}

int events_show_command(const ShowOptions& options) {
  auto connection = open(options.config);
  const auto events = find_events(connection, options.id);
  if (events.empty()) {
    std::fprintf(stderr, "hookgate: no event '%s'\n", printable(options.id).c_str());
    return kExitFailed;
  }
  for (const auto& event : events) {
    const auto bodies = bodies_of(connection, event.id);
    if (options.body) {
      if (bodies.empty() || bodies.front().kind != "first") continue;
      std::fwrite(bodies.front().body.data(), 1, bodies.front().body.size(), stdout);
    } else if (options.json) {
      auto json = event_json(event);
      for (const auto& body : bodies) json["bodies"].push_back(body_json(body));
      print_json(json);
    } else {
      print_event(event, bodies);
    }
  }
  return kExitDone;
}

}  // namespace hookgate
