#include "cli/dev_config.h"

#include <fstream>
#include <stdexcept>

#include "store/connection.h"
#include "store/database_admin.h"
#include "store/event_queue.h"

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

# Clients of your own, which send a request again until they know its outcome.
[[source]]
name = "orders"
provider = "idempotency-key"
clients = [{ name = "web", key = "@WEB@" }, { name = "mobile", key = "@MOBILE@" }]
respond = "create-order"

[[handler]]
name = "payments"
kind = "payments"
capture = "manual"

[[handler]]
name = "create-order"
kind = "sql"
params = { client = "@scope", product = "/product", quantity = "/quantity" }
statement = "INSERT INTO orders (client_id, product, quantity) VALUES (:client, :product, :quantity::int) RETURNING id AS order_id"
answer = 201
)toml";

// What the handler of the source "orders" writes to.
constexpr auto kOrdersTable = R"sql(
  CREATE TABLE IF NOT EXISTS orders (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    client_id  text        NOT NULL,
    product    text        NOT NULL,
    quantity   integer     NOT NULL CHECK (quantity > 0),
    created_at timestamptz NOT NULL DEFAULT now()
  )
)sql";

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
  text = replaced(std::move(text), "@WEB@", kDevWebKey);
  text = replaced(std::move(text), "@MOBILE@", kDevMobileKey);
  std::ofstream out{file};
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

std::string with_dev_database(const std::string& server_url, const std::string& database) {
  return with_database(Secret{server_url}, database).reveal();
}

std::string prepare_dev_database(const std::string& server_url, const std::string& database,
                                 bool fresh) {
  const auto url = ensure_database(Secret{server_url}, database, fresh);
  Connection connection{url, {}};
  in_event_transaction(connection, [](EventTransaction& transaction) {
    transaction.sql().execute(kOrdersTable);
    transaction.commit();
  });
  return url.reveal();
}

}  // namespace hookgate
