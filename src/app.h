#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "config.h"
#include "domain/handler.h"
#include "domain/time.h"

namespace hookgate {

class Connection;

// A whole gateway in one object: the one place that names concrete parts and the order in which
// they start and stop.
class App {
 public:
  explicit App(Config config, Clock clock = system_now);
  ~App();  // stops

  // Besides the configured ones, for every source; before start(). This is how a program of your
  // own brings its handlers in.
  void add_handler(std::unique_ptr<Handler> handler);

  // Brings the schema up to date (unless told not to), then starts workers, then the listeners.
  // Throws StoreUnavailable, SchemaTooNew, SchemaBehind, InvalidHandler, ListenError.
  void start();

  // Refuses new requests, answers those it has, finishes running handlers. Idempotent.
  void stop() noexcept;

  // Takes over the secrets, `live`, `accounts`, `allow` and `rate_limit` of the sources of a
  // configuration that was read again, and reads the files of certificate and key again; if these
  // cannot be used the old ones stay. Handlers stay as they are, their secrets too. Returns false,
  // and changes nothing, when its sources are not the ones we run; that takes a restart.
  bool reload(const Config& config);

  std::string public_address() const;  // "127.0.0.1:8080"
  std::string admin_address() const;

  // Applies retention now, as the background does every ten seconds.
  void run_maintenance();

 private:
  void start_workers();
  void start_admin();

  struct Parts;
  Config config_;
  Clock clock_;
  std::vector<std::unique_ptr<Handler>> extra_handlers_;
  std::unique_ptr<Parts> parts_;
};

// The schema is older than this program and it may not migrate by itself.
class SchemaBehind : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The handlers of the configuration, in its order.
std::vector<std::unique_ptr<Handler>> make_handlers(const Config& config);

// Has every handler look whether the database has what it needs; writes nothing. Throws
// InvalidHandler, StoreUnavailable.
void check_handlers(Connection& connection, std::span<const std::unique_ptr<Handler>> handlers);

// Retention of the keys of every source.
std::vector<struct KeyRetention> key_retention(const Config& config);

}  // namespace hookgate
