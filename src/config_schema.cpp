#include "config_schema.h"

#include <algorithm>
#include <array>
#include <vector>

#include "config_values.h"

namespace hookgate {

namespace {

using enum ConfigSupport;

constexpr std::array<ConfigKeySchema, 10> kServerKeys{{{"listen"},
                                                       {"listener"},
                                                       {"max_body"},
                                                       {"max_connections"},
                                                       {"max_connections_per_address"},
                                                       {"request_timeout"},
                                                       {"shutdown_grace"},
                                                       {"trusted_proxies"},
                                                       {"tls_certificate"},
                                                       {"tls_key"}}};
constexpr std::array<ConfigKeySchema, 2> kAdminKeys{{{"listen"}, {"token"}}};
constexpr std::array<ConfigKeySchema, 2> kDatabaseKeys{{{"url"}, {"migrate"}}};
constexpr std::array<ConfigKeySchema, 3> kWorkersKeys{
    {{"count"}, {"max_attempts"}, {"handler_timeout"}}};
constexpr std::array<ConfigKeySchema, 1> kRetentionKeys{{{"bodies"}}};
constexpr std::array<ConfigKeySchema, 15> kSourceKeys{{{"name"},
                                                       {"provider"},
                                                       {"secrets"},
                                                       {"tolerance"},
                                                       {"retain"},
                                                       {"live"},
                                                       {"accounts"},
                                                       {"scheme"},
                                                       {"basic_auth"},
                                                       {"handlers"},
                                                       {"allow"},
                                                       {"rate_limit"},
                                                       {"url", kLater},
                                                       {"clients"},
                                                       {"respond"}}};
constexpr std::array<ConfigKeySchema, 16> kHandlerKeys{{{"name"},
                                                        {"kind"},
                                                        {"capture"},
                                                        {"events"},
                                                        {"params"},
                                                        {"required"},
                                                        {"statement"},
                                                        {"answer"},
                                                        {"url"},
                                                        {"secret"},
                                                        {"timeout"},
                                                        {"concurrency"},
                                                        {"max_attempts"},
                                                        {"ordered"},
                                                        {"private_addresses"},
                                                        {"exchange", kLater}}};

const std::array<ConfigSectionSchema, 9> kSections{
    {{.name = "server", .keys = kServerKeys},
     {.name = "admin", .keys = kAdminKeys},
     {.name = "database", .keys = kDatabaseKeys},
     {.name = "workers", .keys = kWorkersKeys},
     {.name = "retention", .keys = kRetentionKeys},
     {.name = "source", .is_repeated = true, .keys = kSourceKeys},
     {.name = "handler", .is_repeated = true, .keys = kHandlerKeys},
     {.name = "capture", .support = kLater, .keys = {}},
     {.name = "provider", .is_repeated = true, .support = kLater, .keys = {}}}};

// Names that a suggestion may hold: those of this version.
template <typename Schemas>
std::vector<std::string_view> usable_names(const Schemas& schemas) {
  std::vector<std::string_view> names;
  for (const auto& schema : schemas)
    if (schema.support != kLater) names.push_back(schema.name);
  return names;
}

bool has_key(const ConfigSectionSchema& section, std::string_view key) {
  return std::ranges::find(section.keys, key, &ConfigKeySchema::name) != section.keys.end();
}

// "; it belongs in [server]" when exactly one other section has such a key.
std::string other_section_with(std::string_view key) {
  const auto has_it = [key](const ConfigSectionSchema& section) { return has_key(section, key); };
  if (std::ranges::count_if(kSections, has_it) != 1) return "";
  return "; it belongs in " + std::ranges::find_if(kSections, has_it)->title();
}

[[noreturn]] void fail_unknown_section(const ConfigFile& file, const ConfigNode& member) {
  if (member.kind != ConfigNode::Kind::kTable && !member.is_list_of_tables())
    file.fail(member.key_at, "unknown key " + in_quotes(member.key, '\'') + " outside any section" +
                                 other_section_with(member.key));
  const auto name = in_quotes(member.key, ' ');
  const auto bare = name.substr(1, name.size() - 2);
  const auto title = member.is_list_of_tables() ? "[[" + bare + "]]" : "[" + bare + "]";
  const auto meant = nearest(member.key, usable_names(kSections));
  file.fail(member.key_at,
            "unknown section " + title +
                (meant ? "; did you mean " + config_section(*meant).title() + "?" : ""));
}

void check_form(const ConfigFile& file, const ConfigNode& member,
                const ConfigSectionSchema& section) {
  const bool is_table = member.kind == ConfigNode::Kind::kTable;
  const bool is_empty_list = member.kind == ConfigNode::Kind::kList && member.elements.empty();
  const bool is_list = member.is_list_of_tables() || is_empty_list;
  if (section.is_repeated ? is_list : is_table) return;
  if (is_table || member.is_list_of_tables())
    file.fail(member.key_at, in_quotes(member.key, '\'') + " is a section of the form " +
                                 section.title() + "; write its header so");
  file.fail(member.key_at, in_quotes(member.key, '\'') + " must be the section " + section.title() +
                               ", found " + std::string{kind_name(member.kind)});
}

void check_keys(const ConfigFile& file, const ConfigNode& block,
                const ConfigSectionSchema& section) {
  for (const auto& member : block.members) {
    if (has_key(section, member.key)) continue;
    auto hint = did_you_mean(member.key, usable_names(section.keys), '\'');
    if (hint.empty()) hint = other_section_with(member.key);
    file.fail(member.key_at,
              "unknown key " + in_quotes(member.key, '\'') + " in " + section.title() + hint);
  }
}

}  // namespace

std::string ConfigSectionSchema::title() const {
  const std::string bare{name};
  return is_repeated ? "[[" + bare + "]]" : "[" + bare + "]";
}

const ConfigSectionSchema& config_section(std::string_view name) {
  return *std::ranges::find(kSections, name, &ConfigSectionSchema::name);
}

void check_names(const ConfigFile& file, const ConfigNode& root) {
  for (const auto& member : root.members) {
    const auto* const section =
        std::ranges::find(kSections, member.key, &ConfigSectionSchema::name);
    if (section == kSections.end()) fail_unknown_section(file, member);
    if (section->support == kLater)
      file.fail(member.at, section->title() + " is not available yet");
    check_form(file, member, *section);
    if (!section->is_repeated) check_keys(file, member, *section);
    for (const auto& block : member.elements) check_keys(file, block, *section);
  }
}

void refuse_later_keys(const ConfigFile& file, const ConfigNode& block,
                       const ConfigSectionSchema& section) {
  for (const auto& member : block.members) {
    const auto key = std::ranges::find(section.keys, member.key, &ConfigKeySchema::name);
    if (key == section.keys.end() || key->support == kNow) continue;
    file.fail(member.key_at,
              in_quotes(member.key, '\'') + " in " + section.title() + " is not available yet");
  }
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates,
                         char quote) {
  const auto meant = nearest(word, candidates);
  return meant ? "; did you mean " + in_quotes(*meant, quote) + "?" : "";
}

}  // namespace hookgate
