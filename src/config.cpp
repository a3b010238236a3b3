#include "config.h"

#include <utility>
#include <variant>

#include "config_document.h"
#include "config_file.h"
#include "config_reader.h"
#include "config_schema.h"
#include "config_server.h"
#include "config_sources.h"
#include "config_values.h"

namespace hookgate {

namespace {

using std::chrono::hours;

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
constexpr IntegerRange kWorkers{.least = 0, .most = 256};
constexpr IntegerRange kAttempts{.least = 1, .most = 1'000};
constexpr DurationRange kHandlerTime{.least = std::chrono::seconds{1},
                                     .most = std::chrono::minutes{10}};
constexpr DurationRange kBodiesKept{.least = hours{1}, .most = hours{24 * 3650}};
constexpr std::size_t kBlocksMax = 1'000;  // of one kind; their names are labels of metrics

// Reads the sections one after the other; absent ones read as empty, and so give the defaults.
class ConfigBuilder {
 public:
  ConfigBuilder(const ConfigFile& file, const ConfigNode& root) : file_(file), root_(root) {}

  Config build();

 private:
  void read_admin();
  void read_database();
  void read_workers();
  void read_retention();
  void read_handlers();
  void read_sources();
  const ConfigNode& section(std::string_view name) const;
  ConfigBlock block(std::string_view name) const;
  const std::vector<ConfigNode>& blocks(std::string_view name) const;

  const ConfigFile& file_;
  const ConfigNode& root_;
  ConfigNode empty_;
  Config config_;
};

Config ConfigBuilder::build() {
  check_names(file_, root_);
  config_.file = file_.path;
  config_.server = read_server(file_, block("server"), config_.warnings);
  read_admin();
  read_database();
  read_workers();
  read_retention();
  read_handlers();
  read_sources();
  return std::move(config_);
}

void ConfigBuilder::read_admin() {
  auto& admin = config_.admin;
  const auto read = block("admin");
  admin.listen = read_listen_address(read, admin.listen);
  admin.listen_is_given = read.text("listen").has_value();
  if (const auto token = read.text("token")) admin.token = Secret{token->value};
  const auto address = parse_listen_address(admin.listen);
  if (!admin.token && !address->is_loopback())
    read.fail_missing("token", ", which is required unless 'listen' is on loopback");
  if (admin.listen == config_.server.listen && address->port != 0)
    file_.fail(read.at(),
               "[admin] and [server] listen on the same address, " + in_quotes(admin.listen));
}

void ConfigBuilder::read_database() {
  const auto read = block("database");
  if (const auto url = read.text("url")) config_.database.url = Secret{url->value};
  config_.database.migrate = read.boolean("migrate").value_or(config_.database.migrate);
}

void ConfigBuilder::read_workers() {
  auto& workers = config_.workers;
  const auto read = block("workers");
  workers.count = static_cast<int>(read.integer("count", workers.count, kWorkers));
  workers.max_attempts =
      static_cast<int>(read.integer("max_attempts", workers.max_attempts, kAttempts));
  workers.handler_timeout =
      read.duration("handler_timeout", kHandlerTime).value_or(workers.handler_timeout);
}

void ConfigBuilder::read_retention() {
  const auto bodies = block("retention").duration("bodies", kBodiesKept);
  if (bodies) config_.retention.bodies = std::chrono::duration_cast<hours>(*bodies);
}

void ConfigBuilder::read_handlers() {
  BlockNames names;
  for (const auto& node : blocks("handler"))
    config_.handlers.push_back(read_handler(file_, node, names, config_.warnings));
}

void ConfigBuilder::read_sources() {
  BlockNames names;
  for (const auto& node : blocks("source"))
    config_.sources.push_back(read_source(file_, node, names, config_.handlers, config_.warnings));
}

const ConfigNode& ConfigBuilder::section(std::string_view name) const {
  const auto* const node = root_.find(name);
  return node == nullptr ? empty_ : *node;
}

ConfigBlock ConfigBuilder::block(std::string_view name) const {
  return ConfigBlock{file_, section(name), config_section(name).title()};
}

const std::vector<ConfigNode>& ConfigBuilder::blocks(std::string_view name) const {
  const auto& nodes = section(name).elements;
  if (nodes.size() > kBlocksMax)
    file_.fail(nodes[kBlocksMax].at, "there are more than " + std::to_string(kBlocksMax) + " " +
                                         config_section(name).title() + " blocks");
  return nodes;
}

}  // namespace

Config load_config(const std::filesystem::path& file) {
  const auto content = read_whole_file(file, kFileBytesMax);
  if (const auto* const unreadable = std::get_if<FileUnreadable>(&content))
    throw ConfigError{file.string() + ": cannot be read: " + unreadable->reason};
  return parse_config(std::get<std::string>(content), file);
}

Config parse_config(std::string_view text, const std::filesystem::path& name) {
  const ConfigFile file{name};
  const auto root = parse_document(text, file);
  return ConfigBuilder{file, root}.build();
}

}  // namespace hookgate
