#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/handler.h"
#include "domain/ip_network.h"
#include "domain/provider.h"

namespace hookgate {

// A configured way in: POST /webhooks/{name}.
struct Source {
  std::string name;
  std::unique_ptr<const Provider> provider;
  std::optional<bool> live;           // set: events of the other kind are stored as ignored
  std::vector<std::string> accounts;  // events of other accounts are stored as ignored; empty: any
  std::vector<IpNetwork> allow;       // clients that may send; empty: all
  double rate_limit = 0;              // authentic events a second; 0: no limit
  Handler* respond = nullptr;         // runs in the request and makes its answer
  bool has_handlers = false;          // that run later
};

// By name. Replaced as a whole when secrets are reloaded.
using SourceMap = std::map<std::string, Source, std::less<>>;

}  // namespace hookgate
