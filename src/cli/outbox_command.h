#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "store/outbox_admin.h"

namespace CLI {
class App;
}

namespace hookgate {

struct OutboxListOptions {
  std::string config;
  MessageFilter filter;
  bool json = false;
};

// `outbox retry` and `outbox discard`: one message, or all dead ones.
struct OutboxChangeOptions {
  std::string config;
  std::optional<std::int64_t> id;
  bool dead = false;
  std::optional<std::string> destination;
  bool dry_run = false;
};

struct OutboxOptions {
  OutboxListOptions list;
  OutboxChangeOptions retry;
  OutboxChangeOptions discard;
};

// Adds `outbox list|retry|discard`; the chosen one is put into `action`. `options` and `action`
// must outlive the parsing.
void add_outbox_commands(CLI::App& app, OutboxOptions& options, std::function<int()>& action);

// Exit codes as everywhere. Throw UsageError for an id together with --dead, or neither.
int outbox_list_command(const OutboxListOptions& options);
int outbox_change_command(MessageChange change, const OutboxChangeOptions& options);

}  // namespace hookgate
