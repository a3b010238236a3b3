#include "memory_event_queue.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace hookgate {

class MemoryEventQueue::Transaction final : public EventTransaction, private SqlTransaction {
 public:
  explicit Transaction(MemoryEventQueue& queue) : queue_(queue) {}
  ~Transaction() override {
    if (queue_.broken_.rollback_keeps_effects && !committed_)
      queue_.effects.insert(queue_.effects.end(), effects_.begin(), effects_.end());
    for (const auto& name : names_) queue_.locked_names_.erase(name);
    for (const auto id : rows_) queue_.locked_rows_.erase(id);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  SqlTransaction& sql() override { return *this; }
  void defer(std::chrono::milliseconds) override {}

  void lock(std::span<const std::string> names) override {
    begin("lock");
    for (const auto& name : names) {
      if (names_.contains(name)) continue;
      if (queue_.locked_names_.contains(name)) fail("55P03");
      queue_.locked_names_.insert(name);
      names_.insert(name);
    }
  }

  void savepoint() override {
    begin("savepoint");
    savepoint_ = effects_.size();
  }
  void release_savepoint() override { begin("release"); }
  void rollback_to_savepoint() override {
    failed_ = false;
    if (!queue_.broken_.rollback_keeps_effects) effects_.resize(savepoint_);
  }
  void limit_statements(std::chrono::milliseconds) override { begin("limit"); }

  std::size_t finish(std::int64_t token, std::span<const FinishedEvent> events) override {
    begin("finish");
    std::size_t rows = 0;
    for (const auto& event : events) {
      const auto& row = queue_.events.at(event.id);
      if (queue_.locked_rows_.contains(event.id)) fail("55P03");
      const bool is_ours = row.claim_token == token && row.status == "pending";
      if (!is_ours && !queue_.broken_.token_is_not_checked) continue;
      queue_.locked_rows_.insert(event.id);
      rows_.insert(event.id);
      finished_.push_back(event);
      ++rows;
    }
    return rows;
  }

  void commit() override {
    begin("commit");
    queue_.commit_watch(finished_, effects_);
    for (const auto& event : finished_) apply(event);
    queue_.effects.insert(queue_.effects.end(), effects_.begin(), effects_.end());
    committed_ = true;
    // Its answer may be lost.
    queue_.interruption("committed");
  }

 private:
  SqlResult execute(std::string_view statement, std::span<const SqlValue> parameters) override {
    begin("statement");
    if (statement == kReadOnly) return {};
    if (statement != kWriteEffect) fail(std::string{statement});
    effects_.push_back(
        {std::get<std::int64_t>(parameters[0]), std::get<std::string>(parameters[1])});
    return {};
  }

  void begin(std::string_view place) {
    if (failed_) throw SqlError("25P02", "the transaction has failed");
    try {
      queue_.interruption(place);
    } catch (const SqlError&) {
      failed_ = true;
      throw;
    }
  }
  [[noreturn]] void fail(const std::string& sqlstate) {
    failed_ = true;
    throw SqlError(sqlstate, "failed with " + sqlstate);
  }

  void apply(const FinishedEvent& event) {
    auto& row = queue_.events.at(event.id);
    row.claim_token = 0;
    row.finished = event.finished;
    row.last_error = event.last_error;
    row.failures += event.failed ? 1 : 0;
    row.due_at = queue_.now + event.retry_after;
    switch (event.status) {
      case FinishedEvent::Status::kDone: row.status = "done"; break;
      case FinishedEvent::Status::kIgnored: row.status = "ignored"; break;
      case FinishedEvent::Status::kDead: row.status = "dead"; break;
      case FinishedEvent::Status::kRetry: row.status = "pending"; break;
    }
  }

  MemoryEventQueue& queue_;
  std::set<std::string> names_;
  std::set<std::int64_t> rows_;
  std::vector<FinishedEvent> finished_;
  std::vector<MemoryEffect> effects_;
  std::size_t savepoint_ = 0;
  bool failed_ = false;
  bool committed_ = false;
};

// In the order they fell due.
std::vector<MemoryEvent*> MemoryEventQueue::due_of(const ClaimOptions& options, bool held) {
  std::vector<MemoryEvent*> due;
  for (auto& [id, event] : events) {
    if (event.status != "pending" || (event.claim_token != 0) != held) continue;
    if (event.due_at > now && !(held && broken_.claims_ignore_leases)) continue;
    if (locked_rows_.contains(id)) continue;
    if (std::ranges::find(options.sources, event.source) != options.sources.end())
      due.push_back(&event);
  }
  std::ranges::stable_sort(due, {}, [](const MemoryEvent* event) { return event->due_at; });
  return due;
}

std::vector<ClaimedEvent> MemoryEventQueue::take(std::vector<MemoryEvent*> due, std::size_t count,
                                                 const ClaimOptions& options) {
  const auto token = static_cast<std::int64_t>(random_() >> 1U) | 1;
  std::vector<ClaimedEvent> claimed;
  due.resize(std::min(due.size(), count));
  for (auto* row : due) {
    ++row->attempts;
    if (row->claim_token != 0 && !broken_.crashes_are_not_counted) ++row->crashes;
    row->claim_token = token;
    row->due_at = now + options.lease;
    ClaimedEvent one;
    one.event.id = row->id;
    one.event.source = row->source;
    one.event.subject = row->subject;
    one.event.event_id = std::to_string(row->id);
    one.event.attempt = row->attempts;
    one.token = token;
    one.failures = row->failures;
    one.crashes = row->crashes;
    one.finished = row->finished;
    claimed.push_back(std::move(one));
  }
  std::ranges::sort(claimed, {}, [](const ClaimedEvent& one) {
    return std::tie(one.event.subject, one.event.id);
  });
  // A crash here: claimed, and nobody knows of it.
  interruption("claimed");
  return claimed;
}

std::vector<ClaimedEvent> MemoryEventQueue::claim(const ClaimOptions& options) {
  interruption("claim");
  const auto due = due_of(options, false);
  const auto share = (options.events_max + options.sources.size() - 1) / options.sources.size();
  std::map<std::string, std::size_t> counts;
  std::vector<MemoryEvent*> fair;
  std::vector<MemoryEvent*> rest;
  for (auto* event : due) (counts[event->source]++ < share ? fair : rest).push_back(event);
  fair.insert(fair.end(), rest.begin(), rest.end());
  return take(fair, options.events_max, options);
}

std::vector<ClaimedEvent> MemoryEventQueue::claim_expired(const ClaimOptions& options) {
  interruption("claim");
  return take(due_of(options, true), 1, options);
}

std::vector<std::int64_t> MemoryEventQueue::renew(std::int64_t token,
                                                  std::span<const std::int64_t> ids,
                                                  std::chrono::milliseconds lease) {
  interruption("renew");
  std::vector<std::int64_t> renewed;
  for (const auto id : ids) {
    auto& row = events.at(id);
    if (row.claim_token != token || row.status != "pending") continue;
    row.due_at = now + lease;
    renewed.push_back(id);
  }
  return renewed;
}

void MemoryEventQueue::transact(const std::function<void(EventTransaction&)>& work) {
  interruption("begin");
  Transaction transaction{*this};
  work(transaction);
}

bool MemoryEventQueue::retry(std::int64_t id) {
  auto& row = events.at(id);
  const bool waits = row.status == "pending" && row.claim_token == 0;
  if (locked_rows_.contains(id) || !(waits || row.status == "dead" || row.status == "discarded"))
    return false;
  std::string kept;
  std::string name;
  for (const char c : row.finished + ",") {
    if (c != ',') {
      name += c;
      continue;
    }
    if (!name.empty() && !name.ends_with('!')) kept += (kept.empty() ? "" : ",") + name;
    name.clear();
  }
  row.status = "pending";
  row.due_at = now;
  row.failures = row.crashes = 0;
  row.finished = kept;
  return true;
}

bool MemoryEventQueue::discard(std::int64_t id) {
  auto& row = events.at(id);
  if (locked_rows_.contains(id) || (row.status != "dead" && row.status != "pending")) return false;
  row.status = "discarded";
  row.claim_token = 0;
  return true;
}

}  // namespace hookgate
