#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/connection.h"

namespace hookgate {

// What an operator sees of the outbox and does to it.

struct MessageFilter {
  std::optional<std::string> status{};  // unset: what is not settled, pending and dead
  std::optional<std::string> destination{};
  std::size_t limit = 50;
};

struct MessageRow {
  std::int64_t id = 0;
  std::string destination, idempotency_key, status, subject, event_type, content_type;
  std::int64_t event = 0;  // events.id
  int attempts = 0;
  bool is_being_sent = false;
  std::int64_t body_bytes = 0;
  // Instants as RFC 3339; `due_at` only of pending ones.
  std::optional<std::string> created_at, due_at, sent_at, discarded_at, last_error;
};

// Newest first. All throw StoreUnavailable, SqlError.
std::vector<MessageRow> list_messages(Connection& connection, const MessageFilter& filter);
std::optional<MessageRow> find_message(Connection& connection, std::int64_t id);

enum class MessageChange {
  kRetry,  // due now, with all its tries; of one that is dead, discarded, or pending and not being
           // sent
  kDiscard,  // never sent again; of one that is dead or pending. A try under way cannot be called
             // back
};

// Whether the change can be made to a message in this state.
bool can_change(MessageChange change, const MessageRow& message);

// False when the message is not there or its state does not allow it (any more).
bool change_message(Connection& connection, MessageChange change, std::int64_t id);

// The dead ones, of one destination if it is given, each once, in small transactions.
std::size_t count_dead(Connection& connection, const std::optional<std::string>& destination);
std::size_t change_dead(Connection& connection, MessageChange change,
                        const std::optional<std::string>& destination);

}  // namespace hookgate
