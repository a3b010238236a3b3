#include "gateway_support.h"

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <httplib.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "providers/registry.h"

namespace hookgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// Asks until it is true or the time is over. Waits on other processes can only be polled.
template <typename Condition>
bool eventually(Condition condition, seconds limit) {
  const auto deadline = steady_clock::now() + limit;
  while (!condition()) {
    if (steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds{10});
  }
  return true;
}

HttpResult result_of(const httplib::Result& answer) {
  HttpResult result;
  if (!answer) return result;
  result.status = answer->status;
  result.body = answer->body;
  for (const auto& [name, value] : answer->headers) result.headers.push_back({name, value});
  return result;
}

HttpResult send_with(httplib::Client& client, const InboundRequest& request) {
  httplib::Headers headers;
  std::string content_type = "application/json";
  for (const auto& header : request.headers) {
    if (equal_ignoring_case(header.name, "content-type")) {
      content_type = header.value;
    } else {
      headers.emplace(header.name, header.value);
    }
  }
  if (request.method == "GET") return result_of(client.Get(request.target.c_str(), headers));
  return result_of(
      client.Post(request.target.c_str(), headers, request.body, content_type.c_str()));
}

}  // namespace

std::string HttpResult::header(const std::string& name) const {
  for (const auto& header : headers) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return "";
}

struct HttpSession::Impl {
  explicit Impl(const std::string& address) : client("http://" + address) {
    client.set_keep_alive(true);
    client.set_tcp_nodelay(true);
    client.set_read_timeout(15);
  }
  httplib::Client client;
};

HttpSession::HttpSession(const std::string& address) : impl_(std::make_unique<Impl>(address)) {}
HttpSession::~HttpSession() = default;
HttpResult HttpSession::send(const InboundRequest& request) {
  return send_with(impl_->client, request);
}

HttpResult send(const std::string& address, const InboundRequest& request, int timeout_s) {
  httplib::Client client{"http://" + address};
  client.set_tcp_nodelay(true);
  client.set_read_timeout(timeout_s);
  return send_with(client, request);
}

std::string source_block(const std::string& name, const std::string& provider,
                         const std::vector<std::string>& secrets, const std::string& more) {
  std::string list;
  for (const auto& secret : secrets) list += (list.empty() ? "\"" : ", \"") + secret + "\"";
  const bool has_its_own =
      more.find("handlers = ") != std::string::npos || more.find("respond = ") != std::string::npos;
  return "[[source]]\nname = \"" + name + "\"\nprovider = \"" + provider + "\"\nsecrets = [" +
         list + "]\n" + (has_its_own ? "" : "handlers = [\"payments\"]\n") + more + "\n";
}

std::string test_config(const Secret& url, int workers, const std::string& more) {
  std::string url_text;
  for (const char c : url.reveal())
    url_text += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return "[server]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n[database]\nurl = "
         "\"" +
         url_text + "\"\n[workers]\ncount = " + std::to_string(workers) +
         "\n[[handler]]\nname = \"payments\"\nkind = \"payments\"\n" +
         (more.empty() ? source_block("stripe", "stripe", {kStripeSecret}) +
                             source_block("adyen", "adyen", {kAdyenKey}) +
                             source_block("standard", "standard-webhooks", {kStandardSecret})
                       : more);
}

Outcome CountingHandler::handle(const Event& event, HandlerContext& context) {
  context.sql().execute(
      "INSERT INTO public.effects (source, event_id, event_type, subject) VALUES ($1, $2, $3, $4)",
      {event.source, event.event_id, event.event_type, event.subject});
  return Done{};
}

void CountingHandler::create_table(TestDatabase& database) {
  database.execute(
      "CREATE TABLE IF NOT EXISTS public.effects (source text, event_id text, event_type text, "
      "subject text)");
}

void GatewayTest::SetUp() {
  HOOKGATE_REQUIRE_DATABASE();
  database_ = std::make_unique<TestDatabase>();
  CountingHandler::create_table(*database_);
}

void GatewayTest::TearDown() {
  stop_gateways();
  database_.reset();
}

std::string GatewayTest::start_gateway(const std::string& config_text) {
  auto clock = [this] {
    const auto fixed = clock_seconds_.load();
    return fixed == 0 ? system_now() : SystemTime{seconds{fixed}};
  };
  apps_.push_back(std::make_unique<App>(parse_config(config_text, "test.toml"), clock));
  apps_.back()->add_handler(std::make_unique<CountingHandler>());
  apps_.back()->start();
  return apps_.back()->public_address();
}

void GatewayTest::stop_gateways() {
  apps_.clear();
}

void GatewayTest::drain(int limit_s) {
  EXPECT_TRUE(
      eventually([&] { return database().count("hookgate.events WHERE status = 'pending'") == 0; },
                 seconds{limit_s}))
      << database().value(
             "SELECT string_agg(event_id || ' ' || coalesce(last_error, ''), '; ') FROM "
             "hookgate.events WHERE status = 'pending'");
}

InboundRequest signed_request(const Provider& provider, const std::string& source,
                              const std::string& body, SystemTime now) {
  InboundRequest request;
  request.method = "POST";
  request.target = "/webhooks/" + source;
  request.headers.push_back({"Content-Type", "application/json; charset=utf-8"});
  request.body = body;
  provider.sign(request, now);
  return request;
}

std::unique_ptr<Provider> test_provider(const std::string& name, const std::string& secret) {
  ProviderSettings settings;
  settings.secrets.emplace_back(secret);
  return make_provider(name, settings);
}

std::string stripe_event(const std::string& id, const std::string& type,
                         const std::string& object_json, long long created) {
  return R"({"id":")" + id + R"(","object":"event","api_version":"2024-06-20","created":)" +
         std::to_string(created) + R"(,"livemode":false,"pending_webhooks":1,"type":")" + type +
         R"(","data":{"object":)" + object_json + "}}";
}

std::string hookgate_program() {
  const char* given = std::getenv("HOOKGATE_PROGRAM");
  return given == nullptr ? HOOKGATE_PROGRAM : given;
}

GatewayProcess::GatewayProcess(const std::vector<std::string>& arguments) {
  char name[] = "/tmp/hookgate-process.XXXXXX";
  const int fd = ::mkstemp(name);
  output_file_ = name;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(fd, 1);
    ::dup2(fd, 2);
    std::vector<char*> argv;
    const auto program = hookgate_program();
    argv.push_back(const_cast<char*>(program.c_str()));
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  ::close(fd);
}

GatewayProcess::~GatewayProcess() {
  if (is_running()) kill_now();
  ::unlink(output_file_.c_str());
}

std::string GatewayProcess::output() const {
  std::ifstream file{output_file_, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string GatewayProcess::public_address() {
  static constexpr std::string_view kMark = "listening on ";
  std::string address;
  eventually(
      [&] {
        const auto text = output();
        const auto at = text.find(kMark);
        const auto end = at == std::string::npos ? at : text.find('\n', at);
        if (end != std::string::npos)
          address = text.substr(at + kMark.size(), end - at - kMark.size());
        return !address.empty() || !is_running();
      },
      seconds{60});
  EXPECT_FALSE(address.empty()) << output();
  return address;
}

bool GatewayProcess::is_running() {
  if (pid_ == 0 || exit_code_ >= 0) return false;
  return wait(0) < 0;
}

int GatewayProcess::wait(int limit_s) {
  if (exit_code_ >= 0) return exit_code_;
  eventually(
      [&] {
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return true;
      },
      seconds{limit_s});
  return exit_code_;
}

void GatewayProcess::kill_now() {
  ::kill(pid_, SIGKILL);
  wait(10);
}

void GatewayProcess::hang_up() {
  ::kill(pid_, SIGHUP);
}

int GatewayProcess::terminate() {
  ::kill(pid_, SIGTERM);
  return wait(60);
}

}  // namespace hookgate
