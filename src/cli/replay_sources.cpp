#include "cli/replay_sources.h"

#include "cli/commands.h"
#include "cli/dev_config.h"

namespace hookgate {
namespace {

ReplaySource dev_source(const std::string& provider, const char* secret) {
  ReplaySource source;
  source.provider = provider;
  source.settings.secrets.emplace_back(secret);
  return source;
}

}  // namespace

std::map<std::string, ReplaySource, std::less<>> replay_sources(const Config& config) {
  std::map<std::string, ReplaySource, std::less<>> sources;
  for (const auto& configured : config.sources) {
    ReplaySource source;
    source.provider = configured.provider;
    source.settings = configured.settings;
    if (configured.basic_auth) {
      source.basic_auth =
          BasicCredentials{configured.basic_auth->user, configured.basic_auth->password};
    }
    sources.emplace(configured.name, std::move(source));
  }
  return sources;
}

std::map<std::string, ReplaySource, std::less<>> replay_sources(const std::string& config) {
  std::filesystem::path file;
  try {
    file = config_path(config);
  } catch (const UsageError&) {
    return {{"stripe", dev_source("stripe", kDevStripeSecret)},
            {"adyen", dev_source("adyen", kDevAdyenKey)},
            {"standard", dev_source("standard-webhooks", kDevStandardSecret)}};
  }
  return replay_sources(load_config(file));
}

}  // namespace hookgate
