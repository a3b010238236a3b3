#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config_document.h"
#include "config_file.h"

namespace hookgate {

// Whether this version can do what a key or section asks for. What comes with a later version is
// refused, never ignored: a user who wrote it must not believe that it is done.
enum class ConfigSupport {
  kNow,
  kLater,
};

struct ConfigKeySchema {
  std::string_view name;
  ConfigSupport support = ConfigSupport::kNow;
};

struct ConfigSectionSchema {
  std::string_view name;
  bool is_repeated = false;  // [[name]]
  ConfigSupport support = ConfigSupport::kNow;
  std::span<const ConfigKeySchema> keys;

  // "[server]", "[[source]]"
  std::string title() const;
};

// The section of that name; it must exist.
const ConfigSectionSchema& config_section(std::string_view name);

// Throws ConfigError at the first section or key of the file that does not exist, that is written
// in the wrong form, or whose whole section comes later.
void check_names(const ConfigFile& file, const ConfigNode& root);

// Throws ConfigError at the first key of `block` that comes later.
void refuse_later_keys(const ConfigFile& file, const ConfigNode& block,
                       const ConfigSectionSchema& section);

// "; did you mean 'secrets'?", or "" when no candidate is close.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates,
                         char quote);

}  // namespace hookgate
