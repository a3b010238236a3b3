#include <cstdio>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/fixture_file.h"
#include "cli/sign.h"
#include "cli/value_reference.h"
#include "cli/verify_explain.h"
#include "config.h"
#include "providers/basic_auth.h"
#include "providers/registry.h"

namespace hookgate {
namespace {

SystemTime instant_of(const std::optional<long long>& at) {
  return at ? SystemTime{std::chrono::seconds{*at}} : system_now();
}

std::unique_ptr<Provider> provider_of(const SourceConfig& source) {
  auto provider = make_provider(source.provider, source.settings);
  if (!source.basic_auth) return provider;
  return with_basic_auth(std::move(provider), source.basic_auth->user, source.basic_auth->password);
}

// The wanted source first, then the others.
struct Candidates {
  std::vector<std::unique_ptr<Provider>> providers;
  std::vector<VerifySource> sources;
};

Candidates candidates(const Config& config, const std::string& wanted) {
  Candidates result;
  for (const auto& source : config.sources) {
    result.providers.push_back(provider_of(source));
    VerifySource candidate{source.name, result.providers.back().get(), source.provider,
                           source.settings};
    const auto place = source.name == wanted ? result.sources.begin() : result.sources.end();
    result.sources.insert(place, std::move(candidate));
  }
  if (result.sources.empty() || result.sources.front().name != wanted) {
    throw UsageError("no source '" + wanted + "' in " + config.file.string());
  }
  return result;
}

void print_verdict(const VerifyReport& report, bool as_json) {
  if (as_json) {
    nlohmann::ordered_json json{{"accepted", report.accepted}};
    if (report.accepted) {
      json["secret_index"] = report.secret_index;
    } else {
      json["failed_check"] = report.failed_check;
      json["detail"] = report.detail;
      json["likeliest_cause"] = report.likeliest_cause;
    }
    std::printf("%s\n",
                json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else if (report.accepted) {
    std::printf("accepted: secret %zu of the source matches\n", report.secret_index + 1);
  } else {
    std::printf("refused: %s\n", report.failed_check.c_str());
    if (!report.detail.empty()) std::printf("detail:  %s\n", report.detail.c_str());
    if (!report.likeliest_cause.empty())
      std::printf("likely:  %s\n", report.likeliest_cause.c_str());
  }
}

}  // namespace

int sign_command(const SignOptions& options) {
  ProviderSettings settings;
  settings.secrets.push_back(resolve_secret(options.secret));
  settings.scheme = options.scheme;
  try {
    const auto provider = make_provider(options.provider, settings);
    if (!provider) throw UsageError("unknown provider '" + options.provider + "'");
    write_signed_fixture(options.path, *provider, instant_of(options.at), std::cout);
  } catch (const InvalidProviderSettings& error) {
    throw UsageError(std::string{"--secret: "} + error.what());
  } catch (const FixtureError& error) {
    throw UsageError(error.what());
  }
  return kExitDone;
}

int verify_command(const VerifyOptions& options) {
  const auto config = load_config(config_path(options.config));
  const auto all = candidates(config, options.source);
  try {
    const auto request = read_fixture(options.path);
    const auto report = explain_verdict(request, instant_of(options.at), all.sources.front(),
                                        {all.sources.begin() + 1, all.sources.end()});
    print_verdict(report, options.json);
    return report.accepted ? kExitDone : kExitFailed;
  } catch (const FixtureError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace hookgate
