#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "domain/provider.h"

namespace hookgate {

// Names of the providers that can be configured now, sorted.
std::vector<std::string_view> provider_names();

// Providers of the contract whose part comes with a later version ("github", ...), sorted.
std::vector<std::string_view> later_provider_names();

// Makes the named provider, or nullptr for a name not in provider_names().
// Throws InvalidProviderSettings when the settings cannot make a safe verifier.
std::unique_ptr<Provider> make_provider(std::string_view name, const ProviderSettings& settings);

}  // namespace hookgate
