#include "config.h"

#include <array>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_test_support.h"

namespace hookgate {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ConfigTest, OfAnEmptyFileIsAllDefaults) {
  const auto config = parse_config("", "t.toml");
  EXPECT_EQ(config.file, "t.toml");
  EXPECT_EQ(config.server.listen, "0.0.0.0:8080");
  EXPECT_EQ(config.server.listener, "reactor");
  EXPECT_EQ(config.server.max_body_bytes, 1'048'576U);
  EXPECT_EQ(config.server.max_connections, 10'000U);
  EXPECT_EQ(config.server.max_connections_per_address, 0U);
  EXPECT_EQ(config.server.request_timeout, milliseconds{10'000});
  EXPECT_EQ(config.server.shutdown_grace, milliseconds{20'000});
  EXPECT_THAT(config.server.trusted_proxies, IsEmpty());
  EXPECT_FALSE(config.server.trust_unix_socket);
  EXPECT_EQ(config.server.tls_certificate, "");
  EXPECT_EQ(config.server.tls_key, "");
  EXPECT_EQ(config.admin.listen, "127.0.0.1:8081");
  EXPECT_FALSE(config.admin.token);
  EXPECT_EQ(config.database.url, Secret{"postgresql:///hookgate"});
  EXPECT_TRUE(config.database.migrate);
  EXPECT_EQ(config.workers.count, 4);
  EXPECT_EQ(config.workers.max_attempts, 15);
  EXPECT_EQ(config.workers.handler_timeout, std::chrono::seconds{30});
  EXPECT_EQ(config.retention.bodies, hours{24 * 30});
  EXPECT_THAT(config.sources, IsEmpty());
  EXPECT_THAT(config.handlers, IsEmpty());
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST(ConfigTest, TakesEveryKeyOfItsSections) {
  const auto config = parse_config(
      "[server]\nlisten = \"[::1]:0\"\nlistener = \"httplib\"\nmax_body = \"64MiB\"\n"
      "max_connections = 17\nrequest_timeout = \"250ms\"\nshutdown_grace = \"1h\"\n"
      "[admin]\nlisten = \"0.0.0.0:9001\"\ntoken = \"invented\"\n"
      "[database]\nurl = \"postgresql://db.test/a\"\nmigrate = false\n"
      "[workers]\ncount = 0\nmax_attempts = 3\nhandler_timeout = \"90s\"\n[retention]\nbodies = "
      "\"36h\"\n",
      "t.toml");
  EXPECT_EQ(config.server.listen, "[::1]:0");
  EXPECT_EQ(config.server.max_body_bytes, 64U * 1024 * 1024);
  EXPECT_EQ(config.server.max_connections, 17U);
  EXPECT_EQ(config.server.request_timeout, milliseconds{250});
  EXPECT_EQ(config.server.shutdown_grace, hours{1});
  EXPECT_EQ(config.admin.listen, "0.0.0.0:9001");
  EXPECT_EQ(config.admin.token, Secret{"invented"});
  EXPECT_EQ(config.database.url, Secret{"postgresql://db.test/a"});
  EXPECT_FALSE(config.database.migrate);
  EXPECT_EQ(config.workers.count, 0);
  EXPECT_EQ(config.workers.max_attempts, 3);
  EXPECT_EQ(config.workers.handler_timeout, std::chrono::seconds{90});
  EXPECT_EQ(config.retention.bodies, hours{36});
}

TEST(ConfigTest, KeepsSourcesAndHandlersInTheOrderOfTheFile) {
  const auto config = parse_config(an_adyen_source() + a_stripe_source() +
                                       "[[handler]]\nname = \"z\"\nkind = \"payments\"\n"
                                       "[[handler]]\nname = \"a\"\nkind = \"payments\"\n",
                                   "t.toml");
  ASSERT_EQ(config.sources.size(), 2U);
  EXPECT_EQ(config.sources[0].name, "adyen");
  EXPECT_EQ(config.sources[1].name, "stripe");
  ASSERT_EQ(config.handlers.size(), 2U);
  EXPECT_EQ(config.handlers[0].name, "z");
  EXPECT_EQ(config.handlers[1].name, "a");
}

TEST(ConfigServerTest, RefusesAMalformedAddress) {
  EXPECT_EQ(fault_of("[server]\nlisten = \":9000\"\n"),
            "t.toml:2:10: 'listen' in [server] must be host:port such as \"127.0.0.1:8080\", found "
            "\":9000\"; write \"0.0.0.0:9000\"");
  EXPECT_EQ(fault_of("[admin]\nlisten = \"127.0.0.1:port\"\n"),
            "t.toml:2:10: 'listen' in [admin] must be host:port such as \"127.0.0.1:8080\", found "
            "\"127.0.0.1:port\"");
}

TEST(ConfigAdminTest, NeedsATokenWhenOthersCanReachIt) {
  EXPECT_EQ(fault_of("\n[admin]\nlisten = \"0.0.0.0:8081\"\n"),
            "t.toml:2:1: [admin] has no 'token', which is required unless 'listen' is on loopback");
  EXPECT_EQ(fault_of("[admin]\nlisten = \"gateway.test:8081\"\n"),
            "t.toml:1:1: [admin] has no 'token', which is required unless 'listen' is on loopback");
}

TEST(ConfigAdminTest, NeedsNoTokenOnLoopback) {
  EXPECT_EQ(fault_of("[admin]\nlisten = \"127.0.0.1:9001\"\n"), kAccepted);
  EXPECT_EQ(fault_of("[admin]\nlisten = \"[::1]:9001\"\n"), kAccepted);
  EXPECT_EQ(fault_of("[admin]\nlisten = \"localhost:9001\"\n"), kAccepted);
}

TEST(ConfigAdminTest, RefusesAnEmptyTokenEvenOnLoopback) {
  EXPECT_EQ(fault_of("[admin]\ntoken = \" \"\n"),
            "t.toml:2:9: 'token' in [admin] must not be empty");
}

TEST(ConfigAdminTest, MayNotShareTheAddressOfTheServer) {
  EXPECT_EQ(fault_of("[server]\nlisten = \"127.0.0.1:9000\"\n[admin]\nlisten = "
                     "\"127.0.0.1:9000\"\n"),
            "t.toml:3:1: [admin] and [server] listen on the same address, \"127.0.0.1:9000\"");
  EXPECT_EQ(fault_of("[server]\nlisten = \"127.0.0.1:0\"\n[admin]\nlisten = \"127.0.0.1:0\"\n"),
            kAccepted);
}

TEST(ConfigDatabaseTest, RefusesAnEmptyUrl) {
  EXPECT_EQ(fault_of("[database]\nurl = \"\"\n"),
            "t.toml:2:7: 'url' in [database] must not be empty");
}

TEST(ConfigLimitTest, RefusesMoreThanAThousandSources) {
  std::string text;
  for (int i = 0; i < 1'001; ++i) text += "[[source]]\n";
  EXPECT_EQ(fault_of(text), "t.toml:1001:1: there are more than 1000 [[source]] blocks");
}

using LoadConfigTest = ConfigFolderTest;

TEST_F(LoadConfigTest, RemembersItsFile) {
  const auto file = write("t.toml", "[workers]\ncount = 2\n");
  const auto config = load_config(file);
  EXPECT_EQ(config.file, file);
  EXPECT_EQ(config.workers.count, 2);
}

std::string load_fault_of(const std::filesystem::path& file) {
  try {
    load_config(file);
  } catch (const ConfigError& fault) {
    return fault.what();
  }
  return std::string{kAccepted};
}

TEST_F(LoadConfigTest, RefusesAMissingFile) {
  const auto file = folder() / "absent.toml";
  EXPECT_EQ(load_fault_of(file), file.string() + ": cannot be read: No such file or directory");
}

TEST_F(LoadConfigTest, RefusesAFolder) {
  EXPECT_EQ(load_fault_of(folder()), folder().string() + ": cannot be read: Is a directory");
}

TEST_F(LoadConfigTest, RefusesAFileThatIsTooLarge) {
  const auto file = write("t.toml", std::string(1'048'577, '#'));
  EXPECT_EQ(load_fault_of(file),
            file.string() + ": cannot be read: it is larger than 1048576 bytes");
}

TEST_F(LoadConfigTest, PointsIntoTheFile) {
  const auto file = write("t.toml", "[server]\nport = 1\n");
  EXPECT_EQ(load_fault_of(file), file.string() + ":2:1: unknown key 'port' in [server]");
}

// The example is what a user starts from: it must be accepted as it is shipped.
TEST(ConfigExampleTest, IsAcceptedWhenItsVariablesAreSet) {
  const EnvironmentVariable token{"HOOKGATE_ADMIN_TOKEN", "invented"};
  const EnvironmentVariable stripe{"STRIPE_WEBHOOK_SECRET", "whsec_INVENTED"};
  const EnvironmentVariable adyen{"ADYEN_HMAC_KEY", std::string(64, 'A')};
  const EnvironmentVariable user{"ADYEN_USER", "invented"};
  const EnvironmentVariable password{"ADYEN_PASSWORD", "invented"};
  // 24 bytes of 'a' in base64.
  const EnvironmentVariable standard{"STANDARD_WEBHOOK_SECRET",
                                     "whsec_YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh"};
  const EnvironmentVariable web{"WEB_KEY", "invented-web"};
  const EnvironmentVariable mobile{"MOBILE_KEY", "invented-mobile"};
  const EnvironmentVariable crm{"CRM_SECRET", "whsec_YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh"};
  const auto config = load_config(HOOKGATE_SOURCE_DIR "/docs/hookgate.example.toml");
  std::vector<std::string> names;
  for (const auto& source : config.sources) names.push_back(source.name);
  EXPECT_THAT(names, ElementsAre("stripe", "adyen", "standard", "orders"));
  EXPECT_THAT(config.warnings, IsEmpty());
}

// What it shows as defaults must be the defaults.
TEST(ConfigExampleTest, SpellsOutTheDefaults) {
  std::ifstream file{HOOKGATE_SOURCE_DIR "/docs/hookgate.example.toml"};
  std::stringstream text;
  text << file.rdbuf();
  const auto sections = text.str().substr(0, text.str().find("[[source]]"));
  const EnvironmentVariable token{"HOOKGATE_ADMIN_TOKEN", "invented"};
  const auto shown = parse_config(sections, "example");
  const Config defaults;
  EXPECT_EQ(shown.server.listen, defaults.server.listen);
  EXPECT_EQ(shown.server.listener, defaults.server.listener);
  EXPECT_EQ(shown.server.max_body_bytes, defaults.server.max_body_bytes);
  EXPECT_EQ(shown.server.max_connections, defaults.server.max_connections);
  EXPECT_EQ(shown.server.max_connections_per_address, defaults.server.max_connections_per_address);
  EXPECT_THAT(shown.server.trusted_proxies, IsEmpty());
  EXPECT_EQ(shown.server.request_timeout, defaults.server.request_timeout);
  EXPECT_EQ(shown.server.shutdown_grace, defaults.server.shutdown_grace);
  EXPECT_EQ(shown.admin.listen, defaults.admin.listen);
  EXPECT_EQ(shown.database.url, defaults.database.url);
  EXPECT_EQ(shown.database.migrate, defaults.database.migrate);
  EXPECT_EQ(shown.workers.count, defaults.workers.count);
  EXPECT_EQ(shown.workers.max_attempts, defaults.workers.max_attempts);
  EXPECT_EQ(shown.workers.handler_timeout, defaults.workers.handler_timeout);
  EXPECT_EQ(shown.retention.bodies, defaults.retention.bodies);
}

}  // namespace
}  // namespace hookgate
