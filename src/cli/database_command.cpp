#include <cstdio>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "app.h"
#include "cli/commands.h"
#include "config.h"
#include "store/migrator.h"
#include "store/retention.h"

namespace hookgate {

std::filesystem::path config_path(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* from_environment = std::getenv("HOOKGATE_CONFIG")) return from_environment;
  for (const auto* candidate : {"hookgate.toml", ".hookgate/hookgate.toml"}) {
    if (std::filesystem::exists(candidate)) return candidate;
  }
  throw UsageError(
      "no configuration: give --config F, or set HOOKGATE_CONFIG, or start `hookgate dev` here");
}

int migrate_command(const ConfigOptions& options) {
  const auto config = load_config(config_path(options.config));
  Connection connection{config.database.url, SessionSettings{}};
  const auto applied = migrate(connection);
  for (const int version : applied) std::printf("applied migration %d\n", version);
  const auto state = schema_state(connection);
  std::printf("schema is at version %d of %d\n", state.current, state.latest);
  return kExitDone;
}

int check_command(const ConfigOptions& options) {
  const auto config = load_config(config_path(options.config));
  std::string database = "not asked";
  int code = kExitDone;
  if (options.connect) {
    Connection connection{config.database.url, SessionSettings{}};
    const auto state = schema_state(connection);
    database = "reached, schema at version " + std::to_string(state.current) + " of " +
               std::to_string(state.latest);
    if (!state.up_to_date() && !config.database.migrate) code = kExitFailed;
    check_handlers(connection, make_handlers(config));
  }
  if (options.json) {
    nlohmann::ordered_json json{
        {"file", config.file.string()},     {"valid", true},
        {"sources", config.sources.size()}, {"handlers", config.handlers.size()},
        {"warnings", config.warnings},      {"database", database}};
    std::printf("%s\n", json.dump().c_str());
    return code;
  }
  for (const auto& warning : config.warnings) std::printf("warning: %s\n", warning.c_str());
  std::printf("%s is valid: %zu sources, %zu handlers\n", config.file.c_str(),
              config.sources.size(), config.handlers.size());
  if (options.connect) std::printf("database: %s\n", database.c_str());
  return code;
}

int prune_command(const ConfigOptions& options) {
  const auto config = load_config(config_path(options.config));
  Connection connection{config.database.url, SessionSettings{}};
  const auto keys = key_retention(config);
  PruneResult total;
  for (;;) {
    const auto result = prune(connection, system_now(), config.retention.bodies, keys);
    total.days_dropped += result.days_dropped;
    total.bodies_deleted += result.bodies_deleted;
    total.events_deleted += result.events_deleted;
    total.messages_deleted += result.messages_deleted;
    if (result.events_deleted + result.messages_deleted == 0) break;
  }
  if (options.json) {
    nlohmann::ordered_json json{{"days_dropped", total.days_dropped},
                                {"bodies_deleted", total.bodies_deleted},
                                {"events_deleted", total.events_deleted},
                                {"messages_deleted", total.messages_deleted}};
    std::printf("%s\n", json.dump().c_str());
  } else {
    std::printf(
        "dropped %zu days of bodies, deleted %zu bodies, %zu keys and %zu outgoing messages\n",
        total.days_dropped, total.bodies_deleted, total.events_deleted, total.messages_deleted);
  }
  return kExitDone;
}

}  // namespace hookgate
