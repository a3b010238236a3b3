#include "cli/replay.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include <httplib.h>
#include <signal.h>

#include "cli/fixture_file.h"
#include "domain/json.h"
#include "domain/text.h"
#include "providers/registry.h"

namespace hookgate {
namespace {

constexpr std::string_view kWebhooksPath = "/webhooks/";
constexpr std::size_t kAnswerBytesMax = std::size_t{1024} * 1024;
constexpr std::size_t kShownBytesMax = 160;
constexpr double kWaitSecondsMax = 1e8;  // keeps a tiny rate from overflowing the clock

struct BaseUrl {
  std::string origin;  // "http://127.0.0.1:8080"
  std::string prefix;  // "" or "/hooks", without a slash at its end
};

BaseUrl parse_base_url(const std::string& url) {
  const auto scheme_bytes = url.starts_with("http://") ? 7U : url.starts_with("https://") ? 8U : 0U;
  const auto slash = std::min(url.find('/', scheme_bytes), url.size());
  if (scheme_bytes == 0 || slash == scheme_bytes ||
      url.find_first_of("?#@ \t\r\n") != std::string::npos) {
    throw ReplayError("'" + url + "' is not a URL like http://127.0.0.1:8080");
  }
  BaseUrl base{url.substr(0, slash), url.substr(slash)};
  while (base.prefix.ends_with('/')) base.prefix.pop_back();
  return base;
}

// NAME of /webhooks/NAME, else the path itself.
std::string source_of(const InboundRequest& request) {
  auto path = request.path();
  if (path.starts_with(kWebhooksPath) && path.size() > kWebhooksPath.size()) {
    path.remove_prefix(kWebhooksPath.size());
  }
  return std::string{path};
}

struct Signer {
  std::unique_ptr<Provider> provider;  // null: signatures are kept
  std::optional<BasicCredentials> basic_auth;
};

struct Target {
  std::string file;
  std::string source;
  InboundRequest request;
  const Signer* signer;
};

std::unique_ptr<Provider> make_signing_provider(const ReplayOptions& options,
                                                const std::string& source,
                                                const ReplaySource* known) {
  if (options.keep_signature) return nullptr;
  ProviderSettings settings = known != nullptr ? known->settings : ProviderSettings{};
  if (options.secret) settings.secrets = {*options.secret};
  const auto provider = options.provider   ? *options.provider
                        : known != nullptr ? known->provider
                                           : std::string{};
  if (provider.empty() || settings.secrets.empty()) {
    throw ReplayError("no secret for the source '" + source +
                      "': name a configuration that has it, or give a provider and a secret, or "
                      "keep the signatures");
  }
  try {
    auto made = make_provider(provider, settings);
    if (!made) throw ReplayError("unknown provider '" + provider + "'");
    return made;
  } catch (const InvalidProviderSettings& invalid) {
    throw ReplayError("source '" + source + "': " + invalid.message);
  }
}

// Signs as it will be done for each request, so that what cannot sign is told before one is sent.
void try_signing(const Target& target, SystemTime now) {
  if (!target.signer->provider) return;
  auto request = target.request;
  try {
    target.signer->provider->sign(request, now);
  } catch (const std::exception& error) {
    throw ReplayError(target.file + ": cannot be signed for the source '" + target.source +
                      "': " + error.what());
  }
}

class Plan {
 public:
  explicit Plan(const ReplayOptions& options) {
    for (const auto& file : find_fixtures(options.paths)) {
      auto request = read_fixture(file);
      auto source = source_of(request);
      const auto* signer = signer_of(options, source);
      targets_.push_back({file.string(), std::move(source), std::move(request), signer});
      try_signing(targets_.back(), options.clock());
    }
    if (options.times < 1) throw ReplayError("each fixture is sent at least once");
    size_ = targets_.size() * static_cast<std::uint64_t>(options.times);
    if (size_ > kReplayRequestsMax) {
      throw ReplayError(std::to_string(size_) + " requests are more than the " +
                        std::to_string(kReplayRequestsMax) + " of one replay");
    }
    if (options.shuffle) shuffle(*options.shuffle);
  }

  std::uint64_t size() const { return size_; }
  const Target& at(std::uint64_t index) const {
    return targets_[(order_.empty() ? index : order_[index]) % targets_.size()];
  }

 private:
  const Signer* signer_of(const ReplayOptions& options, const std::string& source) {
    if (const auto found = signers_.find(source); found != signers_.end()) return &found->second;
    const auto known = options.sources.find(source);
    const auto* settings = known == options.sources.end() ? nullptr : &known->second;
    Signer signer{make_signing_provider(options, source, settings),
                  settings != nullptr ? settings->basic_auth : std::nullopt};
    return &signers_.emplace(source, std::move(signer)).first->second;
  }

  // Written out because std::shuffle may give another order with another library.
  void shuffle(std::uint64_t seed) {
    order_.resize(size_);
    for (std::uint64_t i = 0; i < size_; ++i) order_[i] = static_cast<std::uint32_t>(i);
    std::mt19937_64 random{seed};
    for (std::uint64_t i = size_; i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
  }

  std::map<std::string, Signer> signers_;  // nodes stay where they are: targets point to them
  std::vector<Target> targets_;
  std::vector<std::uint32_t> order_;  // empty: as found
  std::uint64_t size_ = 0;
};

// One line without control characters: answers come from outside.
std::string shown(std::string_view text) {
  auto line = clean_text(text, kShownBytesMax);
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return line;
}

std::string text_member(const std::string& body, std::string_view name) {
  const auto parsed = parse_json(body);
  const auto* document = std::get_if<JsonDocument>(&parsed);
  return document == nullptr ? "" : std::string{document->root[name].string().value_or("")};
}

struct Result {
  ReplayOutcome outcome = ReplayOutcome::kFailed;
  bool connected = true;
  std::string error;  // of a rejected or failed one
};

Result judge(const httplib::Response& answer) {
  if (answer.status >= 200 && answer.status < 300) {
    if (answer.get_header_value("Idempotent-Replayed") == "true") {
      return {ReplayOutcome::kDuplicate, true, ""};
    }
    const auto status = text_member(answer.body, "status");
    if (status == "duplicate") return {ReplayOutcome::kDuplicate, true, ""};
    if (status == "conflict") return {ReplayOutcome::kConflict, true, ""};
    return {ReplayOutcome::kAccepted, true, ""};
  }
  const auto title = text_member(answer.body, "title");
  const auto is_refusal = answer.status >= 400 && answer.status < 500;
  return {is_refusal ? ReplayOutcome::kRejected : ReplayOutcome::kFailed, true,
          std::to_string(answer.status) + " " + shown(title.empty() ? answer.body : title)};
}

Result judge(httplib::Error error) {
  using httplib::Error;
  switch (error) {
    case Error::Connection: return {ReplayOutcome::kFailed, false, "no connection"};
    case Error::ConnectionTimeout: return {ReplayOutcome::kFailed, false, "no connection in time"};
    case Error::SSLConnection:
    case Error::SSLLoadingCerts:
    case Error::SSLServerVerification:
      return {ReplayOutcome::kFailed, false, "no TLS connection: " + httplib::to_string(error)};
    case Error::Read: return {ReplayOutcome::kFailed, true, "no answer"};
    case Error::Write: return {ReplayOutcome::kFailed, true, "the request could not be sent"};
    default: return {ReplayOutcome::kFailed, true, httplib::to_string(error)};
  }
}

// Headers that belong to the captured connection, or that ask for an answer we cannot read.
bool is_left_out(std::string_view name) {
  constexpr std::string_view kNames[] = {"Host",    "Connection",      "Keep-Alive",
                                         "Expect",  "Trailer",         "TE",
                                         "Upgrade", "Accept-Encoding", "Proxy-Connection"};
  return std::ranges::any_of(kNames,
                             [&](auto left_out) { return equal_ignoring_case(name, left_out); });
}

// One connection, kept alive between requests. Used by one thread.
class Sender {
 public:
  Sender(const ReplayOptions& options, const BaseUrl& base)
      : options_(options), base_(base), client_(base.origin) {
    client_.set_keep_alive(true);
    client_.set_tcp_nodelay(true);
    client_.set_url_encode(false);  // targets go out as captured
    client_.set_connection_timeout(options.connect_timeout);
    client_.set_read_timeout(options.answer_timeout);
    client_.set_write_timeout(options.answer_timeout);
  }

  Result send(const Target& target) {
    auto request = target.request;
    if (target.signer->provider) target.signer->provider->sign(request, options_.clock());
    std::string answer_body;
    auto outgoing = to_http(std::move(request), *target.signer);
    outgoing.content_receiver = [&](const char* data, std::size_t length, std::uint64_t,
                                    std::uint64_t) {
      answer_body.append(data, length);
      return answer_body.size() <= kAnswerBytesMax;
    };
    httplib::Response answer;
    auto error = httplib::Error::Success;
    if (!client_.send(outgoing, answer, error)) return judge(error);
    answer.body = std::move(answer_body);
    return judge(answer);
  }

 private:
  httplib::Request to_http(InboundRequest&& request, const Signer& signer) const {
    httplib::Request outgoing;
    outgoing.method = std::move(request.method);
    outgoing.path = base_.prefix + request.target;
    for (auto& header : request.headers) {
      if (is_left_out(header.name)) continue;
      if (signer.basic_auth && !options_.keep_signature &&
          equal_ignoring_case(header.name, "Authorization")) {
        continue;
      }
      outgoing.headers.emplace(std::move(header.name), std::move(header.value));
    }
    if (signer.basic_auth && !outgoing.has_header("Authorization")) {
      outgoing.headers.insert(httplib::make_basic_authentication_header(
          signer.basic_auth->user.reveal(), signer.basic_auth->password.reveal()));
    }
    outgoing.body = std::move(request.body);
    return outgoing;
  }

  const ReplayOptions& options_;
  const BaseUrl& base_;
  httplib::Client client_;
};

// A connection that the gateway closed must fail one request, not end the program.
void block_sigpipe() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

class Replay {
 public:
  Replay(const ReplayOptions& options, const std::stop_token& stop)
      : options_(options), base_(parse_base_url(options.to)), plan_(options), stop_(stop) {
    report_.planned = plan_.size();
  }

  ReplayReport run() {
    if (options_.on_progress) options_.on_progress(0, plan_.size());
    const auto threads =
        std::min<std::uint64_t>(plan_.size(), static_cast<std::uint64_t>(options_.concurrency));
    {
      std::vector<std::jthread> senders;
      for (std::uint64_t i = 0; i < threads; ++i) senders.emplace_back([this] { send_all(); });
    }
    report_.elapsed = std::chrono::steady_clock::now() - started_;
    return std::move(report_);
  }

 private:
  void send_all() {
    block_sigpipe();
    Sender sender{options_, base_};
    for (auto index = next_++; index < plan_.size() && wait_for_turn(index); index = next_++) {
      const auto& target = plan_.at(index);
      Result result;
      try {
        result = sender.send(target);
      } catch (const std::exception& error) {
        result.error = shown(error.what());
      }
      record(target, result);
    }
  }

  // False after a stop request.
  bool wait_for_turn(std::uint64_t index) {
    if (options_.rate > 0) {
      const std::chrono::duration<double> offset{
          std::min(static_cast<double>(index) / options_.rate, kWaitSecondsMax)};
      const auto due =
          started_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(offset);
      std::unique_lock lock{mutex_};
      turn_.wait_until(lock, stop_, due, [] { return false; });
    }
    return !stop_.stop_requested();
  }

  void record(const Target& target, const Result& result) {
    std::uint64_t done = 0;
    {
      const std::lock_guard lock{mutex_};
      report_.count(target.source, result.outcome);
      if (!result.connected) ++report_.not_connected;
      if (!result.error.empty() && report_.errors.size() < kReplayErrorsMax) {
        report_.errors.push_back(shown(target.file) + ": " + result.error);
      }
      done = report_.total.sent;
    }
    if (options_.on_progress) options_.on_progress(done, plan_.size());
  }

  const ReplayOptions& options_;
  const BaseUrl base_;
  const Plan plan_;
  const std::stop_token stop_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next_ = 0;

  std::mutex mutex_;  // guards the report
  ReplayReport report_;
  std::condition_variable_any turn_;  // only ever ends by its time or a stop request
};

}  // namespace

ReplayReport replay(const ReplayOptions& options, const std::stop_token& stop) {
  if (options.concurrency < 1 || options.concurrency > kReplayConcurrencyMax) {
    throw ReplayError("the concurrency must be from 1 to " + std::to_string(kReplayConcurrencyMax));
  }
  if (!std::isfinite(options.rate) || options.rate < 0) {
    throw ReplayError("the rate must be a number of requests a second, or 0 for no limit");
  }
  return Replay{options, stop}.run();
}

}  // namespace hookgate
