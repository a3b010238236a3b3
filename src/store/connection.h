#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "domain/secret.h"
#include "domain/sql.h"

namespace pqxx {
class connection_base;
}

namespace hookgate {

// What every session is opened with, over what the URL says itself.
struct SessionSettings {
  std::chrono::milliseconds statement_timeout{10'000};
  std::chrono::milliseconds lock_timeout{5'000};
  // Of a transaction in which nothing is asked: the server then ends the session, and so gives its
  // locks free. 0: without end.
  std::chrono::milliseconds idle_in_transaction_timeout{0};
  std::chrono::seconds connect_timeout{2};
  bool synchronous_commit = true;  // false only for what a crash may lose (claims)
  // For sessions whose prepared statements all go by an index. Their plan is made once, where the
  // server would plan a small batch anew each time; and one made while a table was small does not
  // go on reading all of it when it has grown.
  bool goes_by_index = false;
};

// One session with the database; for one thread at a time.
//
// The client library reconnects silently after a lost session and then goes on without its settings
// and locks (seen with 6.4.5), so that is switched off: whoever sees an exception throws the
// connection away.
class Connection {
 public:
  // Opens the session. Throws StoreUnavailable; the text names no password.
  Connection(const Secret& url, const SessionSettings& settings);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // For src/store only.
  pqxx::connection_base& raw() { return *connection_; }
  // Prepares `statement` under `name` unless this session has.
  void prepare_once(const std::string& name, const std::string& statement);
  // The name under which `statement` is prepared in this session from now on. Nothing when the
  // session has prepared as many as it may.
  std::optional<std::string> prepared_name(std::string_view statement);
  // Has the next prepared_name() prepare it anew, under another name.
  void forget_prepared(std::string_view statement);
  // Of a type of the schema, which each database numbers for itself.
  std::int32_t type_oid(const std::string& type);

  std::chrono::steady_clock::time_point opened_at() const { return opened_at_; }

 private:
  // Shared only for its deleter, which knows the whole type: the library's base class has no
  // virtual destructor.
  std::shared_ptr<pqxx::connection_base> connection_;
  std::set<std::string> prepared_;
  std::map<std::string, std::string, std::less<>> names_;  // of prepared_name(), by statement
  std::size_t names_made_ = 0;
  std::map<std::string, std::int32_t> type_oids_;
  std::chrono::steady_clock::time_point opened_at_;
};

// The parameters of a libpq URL or keyword list. Throws std::invalid_argument for a text that is
// neither.
std::map<std::string, std::string> connection_parameters(const Secret& url);
// The keyword list of parameters.
std::string connection_string(const std::map<std::string, std::string>& parameters);

// The connection string of `url` with the settings put in. Throws std::invalid_argument for a text
// that is no libpq URL or keyword list.
std::string session_connection_string(const Secret& url, const SessionSettings& settings);

}  // namespace hookgate
