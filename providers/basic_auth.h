#pragma once

#include <memory>

#include "domain/provider.h"

namespace hookgate {

// The provider, asked only after the request's basic authentication (RFC 7617, UTF-8) matched.
// Needed where a signature leaves parts of the body open (Adyen). `sign` adds the credentials too.
std::unique_ptr<Provider> with_basic_auth(std::unique_ptr<Provider> provider, const Secret& user,
                                          const Secret& password);

}  // namespace hookgate
