#include "handlers/forward/forward.h"

namespace hookgate {
namespace {

thread_local std::uint64_t messages_written = 0;

// The content type is the one the sender named. The stored head is bytes of anybody's making, so it
// is read in its escaped form, and what is not plain is taken for the usual JSON.
constexpr auto kInsert = R"sql(
  INSERT INTO hookgate.outbox
         (destination, idempotency_key, event, item, subject, event_type, body, content_type)
  SELECT $1, $2, $3::bigint, $4::smallint, $5, $6, $7::bytea,
         coalesce((SELECT left(rtrim(substring(encode(b.head, 'escape')
                                    FROM '(?in)^content-type:[ \t]*([!-\[\]-~][ -\[\]-~]*)\r?$')), 255)
                     FROM hookgate.event_bodies b
                    WHERE b.day = $8::date AND b.event = $3::bigint),
                  'application/json')
  ON CONFLICT (idempotency_key) DO NOTHING
)sql";

}  // namespace

ForwardHandler::ForwardHandler(std::string name, bool ordered)
    : name_(std::move(name)), ordered_(ordered) {}

Outcome ForwardHandler::handle(const Event& event, HandlerContext& context) {
  const auto day = format_instant(event.received_at).substr(0, 10);
  const std::vector<SqlValue> row{
      name_,         forward_key(name_, event), event.id,          std::int64_t{event.item},
      event.subject, event.event_type,          Bytes{event.body}, day};
  context.sql().execute_later(kInsert, row);
  ++messages_written;
  return Done{};
}

std::vector<std::string> ForwardHandler::lock_keys(const Event& event) const {
  if (!ordered_ || event.subject.empty()) return {};
  return {"forward:" + name_ + ":" + event.subject};
}

std::uint64_t ForwardHandler::written_by_this_thread() {
  return messages_written;
}

std::string forward_key(std::string_view handler, const Event& event) {
  return std::string{handler} + "-" + std::to_string(event.id) + "-" +
         std::to_string(event.received_at.time_since_epoch().count());
}

}  // namespace hookgate
