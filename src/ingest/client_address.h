#pragma once

#include <optional>
#include <vector>

#include "domain/http_message.h"
#include "domain/ip_network.h"

namespace hookgate {

// Whose word on where a request came from is believed.
struct TrustedProxies {
  std::vector<IpNetwork> networks;
  bool unix_socket = false;  // peers on a Unix socket, which have no address

  bool contains(const IpAddress& address) const;
  bool empty() const { return networks.empty() && !unix_socket; }
};

// The client that a request comes from: the socket's peer, or, when the peer is a trusted proxy,
// the right-most hop of X-Forwarded-For that is none (the left-most when all are). Each proxy
// appends whom it got the request from, so that everything left of the first hop we do not trust
// is hearsay. A hop may have a port; at an entry that is no address the search ends with the hop
// before, which is the proxy that passed it on. Nothing when no address is known: behind a Unix
// socket without (believed) hops.
std::optional<IpAddress> client_address(const InboundRequest& head, const TrustedProxies& trusted);

}  // namespace hookgate
