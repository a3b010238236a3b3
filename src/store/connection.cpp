#include "store/connection.h"

#include <map>

#include <libpq-fe.h>
#include <pqxx/pqxx>
#include <spdlog/fmt/fmt.h>

#include "store/error_translation.h"

namespace hookgate {
namespace {

// A value of a keyword connection string: in single quotes, with quote and backslash escaped.
std::string quoted(const std::string& value) {
  std::string result = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

}  // namespace

std::map<std::string, std::string> connection_parameters(const Secret& url) {
  char* error = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options{
      PQconninfoParse(url.reveal().c_str(), &error), &PQconninfoFree};
  if (!options) {
    PQfreemem(error);
    throw std::invalid_argument("not a PostgreSQL connection URL");
  }
  std::map<std::string, std::string> values;
  for (const auto* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) values[option->keyword] = option->val;
  }
  return values;
}

std::string connection_string(const std::map<std::string, std::string>& parameters) {
  std::string result;
  for (const auto& [keyword, value] : parameters) result += keyword + "=" + quoted(value) + " ";
  return result;
}

std::string session_connection_string(const Secret& url, const SessionSettings& settings) {
  auto values = connection_parameters(url);
  values.try_emplace("connect_timeout", std::to_string(settings.connect_timeout.count()));
  values.try_emplace("keepalives_idle", "10");
  values.try_emplace("keepalives_interval", "5");
  values.try_emplace("keepalives_count", "3");
  values.try_emplace("tcp_user_timeout", "10000");
  values.try_emplace("application_name", "hookgate");
  // With several hosts the one that takes writes is wanted, so that a failover needs no restart.
  values.try_emplace("target_session_attrs", "read-write");
  auto& options = values["options"];
  options += fmt::format(
      " -c statement_timeout={} -c lock_timeout={} -c client_encoding=UTF8 -c synchronous_commit={}"
      " -c timezone=UTC -c jit=off -c client_min_messages=warning -c tcp_keepalives_idle=10"
      " -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3",
      settings.statement_timeout.count(), settings.lock_timeout.count(),
      settings.synchronous_commit ? "on" : "off");
  if (settings.idle_in_transaction_timeout.count() > 0) {
    options += fmt::format(" -c idle_in_transaction_session_timeout={}",
                           settings.idle_in_transaction_timeout.count());
  }
  if (settings.goes_by_index)
    options += " -c plan_cache_mode=force_generic_plan -c enable_seqscan=off";
  return connection_string(values);
}

Connection::Connection(const Secret& url, const SessionSettings& settings)
    : opened_at_(std::chrono::steady_clock::now()) {
  const auto connection_string = session_connection_string(url, settings);
  translate_errors([&] {
    connection_ = std::make_shared<pqxx::connection>(connection_string);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    connection_->inhibit_reactivation(true);
#pragma GCC diagnostic pop
  });
}

Connection::~Connection() = default;

void Connection::prepare_once(const std::string& name, const std::string& statement) {
  if (prepared_.contains(name)) return;
  connection_->prepare(name, statement);
  prepared_.insert(name);
}

std::optional<std::string> Connection::prepared_name(std::string_view statement) {
  constexpr std::size_t kStatementsMax = 500;  // the server keeps a plan of each
  const auto known = names_.find(statement);
  if (known != names_.end()) return known->second;
  if (names_made_ >= kStatementsMax) return std::nullopt;
  const auto name = "statement_" + std::to_string(++names_made_);
  connection_->prepare(name, std::string{statement});
  connection_->prepare_now(name);
  return names_.emplace(statement, name).first->second;
}

void Connection::forget_prepared(std::string_view statement) {
  const auto known = names_.find(statement);
  if (known != names_.end()) names_.erase(known);
}

std::int32_t Connection::type_oid(const std::string& type) {
  const auto known = type_oids_.find(type);
  if (known != type_oids_.end()) return known->second;
  pqxx::nontransaction transaction{*connection_};
  const auto oid = transaction.exec1("SELECT " + transaction.quote(type) + "::regtype::oid")[0]
                       .as<std::uint32_t>();
  return type_oids_[type] = static_cast<std::int32_t>(oid);
}

}  // namespace hookgate
