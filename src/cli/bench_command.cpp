#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/load_generator.h"
#include "cli/progress.h"
#include "cli/replay_sources.h"
#include "config_values.h"
#include "crypto/encoding.h"
#include "providers/registry.h"

namespace hookgate {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kBodyBytesMax = std::int64_t{1024} * 1024;
constexpr std::uint16_t kHttpPort = 80;
constexpr std::string_view kHttp = "http://";
constexpr std::string_view kUnix = "unix:";

// "http://127.0.0.1:8080/prefix" or "unix:/run/hookgate.sock".
LoadTarget parse_target(const std::string& url, const std::string& source) {
  LoadTarget target;
  if (url.starts_with(kUnix) && url.size() > kUnix.size()) {
    target.unix_path = url.substr(kUnix.size());
    target.path = "/webhooks/" + source;
    return target;
  }
  if (url.starts_with("https://")) {
    throw UsageError("bench speaks plain HTTP: aim it at the gateway itself, behind its TLS proxy");
  }
  const auto slash = std::min(url.find('/', kHttp.size()), url.size());
  if (!url.starts_with(kHttp) || url.find_first_of("?#@ \t\r\n") != std::string::npos) {
    throw UsageError("'" + url + "' is not a URL like http://127.0.0.1:8080");
  }
  const auto authority = url.substr(kHttp.size(), slash - kHttp.size());
  auto address = parse_listen_address(authority);
  if (!address) address = parse_listen_address(authority + ":" + std::to_string(kHttpPort));
  if (!address) throw UsageError("'" + url + "' is not a URL like http://127.0.0.1:8080");
  target.host = address->host;
  target.port = address->port;
  target.path = url.substr(slash);
  while (target.path.ends_with('/')) target.path.pop_back();
  target.path += "/webhooks/" + source;
  return target;
}

ReplaySource source_named(const std::string& name, const std::string& config) {
  const auto sources = replay_sources(config);
  const auto found = sources.find(name);
  if (found == sources.end()) throw UsageError("there is no source '" + name + "'");
  return found->second;
}

std::unique_ptr<Provider> provider_of(const ReplaySource& source) {
  try {
    auto provider = make_provider(source.provider, source.settings);
    if (!provider) throw UsageError("unknown provider '" + source.provider + "'");
    return provider;
  } catch (const InvalidProviderSettings& invalid) {
    throw UsageError(invalid.message);
  }
}

LoadOptions load_options(const BenchOptions& options, const ReplaySource& source) {
  if (options.body_bytes > kBodyBytesMax) throw UsageError("a body is at most 1MiB");
  LoadOptions load;
  load.target = parse_target(options.to, options.source);
  if (!load.target.is_loopback() && !options.allow_remote) {
    throw UsageError("'" + options.to +
                     "' is not this machine; a load test of another one needs --allow-remote");
  }
  if (source.basic_auth) {
    const auto& credentials = *source.basic_auth;
    load.headers.push_back(
        {"Authorization", "Basic " + base64_encode(credentials.user.reveal() + ":" +
                                                   credentials.password.reveal())});
  }
  load.connections = options.connections;
  load.duration = options.duration;
  load.count = options.count;
  load.rate = options.rate;
  load.duplicates = options.duplicates;
  load.forged = options.forged;
  load.body_bytes = static_cast<std::size_t>(std::max<std::int64_t>(0, options.body_bytes));
  return load;
}

double milliseconds_of(std::chrono::nanoseconds time) {
  return std::round(static_cast<double>(time.count()) / 1e3) / 1e3;
}

double per_second(std::uint64_t count, const LoadReport& report) {
  const auto seconds = report.elapsed.count();
  return seconds <= 0 ? 0 : std::round(static_cast<double>(count) / seconds * 10) / 10;
}

double cpu_microseconds_per_request(const LoadReport& report) {
  if (report.sent == 0) return 0;
  return std::round(report.generator_cpu.count() * 1e7 / static_cast<double>(report.sent)) / 10;
}

void print_json(const LoadReport& report) {
  const auto& latency = report.latency;
  const ordered_json json{{"sent", report.sent},
                          {"fresh", report.fresh},
                          {"redelivered", report.redelivered},
                          {"bad_signatures", report.forged},
                          {"answered", report.answered},
                          {"accepted", report.accepted},
                          {"duplicate", report.duplicate},
                          {"conflict", report.conflict},
                          {"rejected", report.rejected},
                          {"limited", report.limited},
                          {"broken", report.broken},
                          {"wrong", report.wrong},
                          {"lost", report.lost},
                          {"hung", report.hung},
                          {"unsent", report.unsent},
                          {"connects_failed", report.connects_failed},
                          {"reconnects", report.reconnects},
                          {"seconds", std::round(report.elapsed.count() * 1000) / 1000},
                          {"answered_per_second", per_second(report.answered, report)},
                          {"accepted_per_second", per_second(report.accepted, report)},
                          {"latency_ms",
                           {{"mean", milliseconds_of(latency.mean())},
                            {"p50", milliseconds_of(latency.percentile(50))},
                            {"p90", milliseconds_of(latency.percentile(90))},
                            {"p99", milliseconds_of(latency.percentile(99))},
                            {"p99.9", milliseconds_of(latency.percentile(99.9))},
                            {"max", milliseconds_of(latency.max())}}},
                          {"generator_cpu_us_per_request", cpu_microseconds_per_request(report)},
                          {"errors", report.errors}};
  std::cout << json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << std::endl;
}

std::string faults_of(const LoadReport& report) {
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(report.wrong, "wrong answers");
  add(report.lost, "lost with their connection");
  add(report.hung, "without an answer");
  add(report.unsent, "not sent in time");
  add(report.limited, "put off with 429 or 503");
  add(report.connects_failed, "failed connects");
  return text;
}

void print_text(const LoadReport& report) {
  const auto& latency = report.latency;
  const auto ms = [&](double percent) { return milliseconds_of(latency.percentile(percent)); };
  fmt::print("sent      {} in {:.1f} s: {} new, {} sent again, {} with a bad signature\n",
             report.sent, report.elapsed.count(), report.fresh, report.redelivered, report.forged);
  fmt::print(
      "answers   {} accepted, {} duplicate, {} conflict, {} rejected, {} limited, {} broken\n",
      report.accepted, report.duplicate, report.conflict, report.rejected, report.limited,
      report.broken);
  fmt::print("rate      {:.0f} answers/s, {:.0f} events accepted/s\n",
             per_second(report.answered, report), per_second(report.accepted, report));
  fmt::print("latency   p50 {:.2f} ms, p90 {:.2f}, p99 {:.2f}, p99.9 {:.2f}, max {:.2f}\n", ms(50),
             ms(90), ms(99), ms(99.9), milliseconds_of(latency.max()));
  const auto faults = faults_of(report);
  fmt::print("faults    {}\n", faults.empty() ? "none" : faults);
  for (const auto& error : report.errors) fmt::print("  {}\n", error);
  std::fflush(stdout);
}

int exit_code_of(const LoadReport& report) {
  const bool is_sound =
      report.wrong == 0 && report.lost == 0 && report.hung == 0 && report.unsent == 0;
  if (report.answered == 0 && report.connects_failed > 0) return kExitUnreachable;
  return is_sound && report.answered > 0 ? kExitDone : kExitFailed;
}

}  // namespace

int bench_command(const BenchOptions& options) {
  const auto source = source_named(options.source, options.config);
  const auto provider = provider_of(source);
  auto load = load_options(options, source);
  load.provider = provider.get();
  Progress progress{std::cerr, stderr_is_terminal(), "bench", 0};
  load.on_progress = [&](std::uint64_t answered, double share) {
    progress.update(answered, share);
  };
  try {
    const auto report = generate_load(load);
    progress.finish();
    if (options.json) {
      print_json(report);
    } else {
      print_text(report);
    }
    return exit_code_of(report);
  } catch (const LoadTargetUnreachable& error) {
    std::fprintf(stderr, "hookgate: %s\n", error.what());
    return kExitUnreachable;
  } catch (const LoadError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace hookgate
