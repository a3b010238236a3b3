#pragma once

#include "domain/ip_network.h"

namespace hookgate {

// False for addresses that lead into this machine or a network of one's own, or nowhere: loopback,
// private, link-local, shared, multicast, reserved; and for those of IPv6 that stand for such an
// IPv4 address or might (NAT64, 6to4, Teredo). Source: IANA's special-purpose address registries.
bool is_public_address(const IpAddress& address);

}  // namespace hookgate
