#include "cli/dev_config.h"

#include <fstream>
#include <stdexcept>

#include "store/database_admin.h"

namespace hookgate {
namespace {

constexpr auto kTemplate =
    R"toml(# Written by `hookgate dev`; yours to edit. `hookgate dev` does not write it again.
# Every key: docs/hookgate.example.toml. The secrets are invented and worth nothing.

[server]
listen = "127.0.0.1:8080"

[admin]
listen = "127.0.0.1:8081"

[database]
url = "@URL@"

[workers]
count = 4

[[source]]
name = "stripe"
provider = "stripe"
secrets = ["@STRIPE@"]
handlers = ["payments"]

[[source]]
name = "adyen"
provider = "adyen"
secrets = ["@ADYEN@"]
handlers = ["payments"]

[[source]]
name = "standard"
provider = "standard-webhooks"
secrets = ["@STANDARD@"]
handlers = ["payments"]

# The source "orders" (Idempotency-Key for clients of your own) is not available yet.

[[handler]]
name = "payments"
kind = "payments"
capture = "manual"
)toml";

std::string replaced(std::string text, const std::string& mark, const std::string& value) {
  text.replace(text.find(mark), mark.size(), value);
  return text;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

void write_dev_config(const std::filesystem::path& file, const std::string& database_url) {
  auto text = replaced(kTemplate, "@URL@", escaped(database_url));
  text = replaced(std::move(text), "@STRIPE@", kDevStripeSecret);
  text = replaced(std::move(text), "@ADYEN@", kDevAdyenKey);
  text = replaced(std::move(text), "@STANDARD@", kDevStandardSecret);
  std::ofstream out{file};
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

std::string with_dev_database(const std::string& server_url, const std::string& database) {
  return with_database(Secret{server_url}, database).reveal();
}

std::string prepare_dev_database(const std::string& server_url, const std::string& database,
                                 bool fresh) {
  return ensure_database(Secret{server_url}, database, fresh).reveal();
}

}  // namespace hookgate
