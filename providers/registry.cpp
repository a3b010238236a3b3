#include "providers/registry.h"

#include <algorithm>
#include <array>

#include "providers/adyen.h"
#include "providers/idempotency_key.h"
#include "providers/standard_webhooks.h"
#include "providers/stripe.h"

namespace hookgate {
namespace {

template <typename Made>
std::unique_ptr<Provider> make(const ProviderSettings& settings) {
  return std::make_unique<Made>(settings);
}

struct Entry {
  std::string_view name;
  std::unique_ptr<Provider> (*make)(const ProviderSettings& settings);
};

// Sorted by name.
constexpr std::array kProviders{
    Entry{"adyen", make_adyen},
    Entry{"idempotency-key", make<IdempotencyKey>},
    Entry{"standard-webhooks", make<StandardWebhooks>},
    Entry{"stripe", make<Stripe>},
};

// Sorted. A name moves up when its provider is written.
constexpr std::array<std::string_view, 22> kLater{
    "airwallex", "braintree",  "chargebee", "checkout-com", "coinbase-commerce",
    "github",    "gocardless", "klarna",    "mangopay",     "meta",
    "mollie",    "paddle",     "paypal",    "razorpay",     "revolut",
    "shopify",   "slack",      "square",    "svix",         "twilio",
    "worldline", "xendit",
};

}  // namespace

std::vector<std::string_view> provider_names() {
  std::vector<std::string_view> names;
  names.reserve(kProviders.size());
  for (const auto& entry : kProviders) names.push_back(entry.name);
  return names;
}

std::vector<std::string_view> later_provider_names() {
  return {kLater.begin(), kLater.end()};
}

std::unique_ptr<Provider> make_provider(std::string_view name, const ProviderSettings& settings) {
  const auto entry = std::ranges::find(kProviders, name, &Entry::name);
  return entry == kProviders.end() ? nullptr : entry->make(settings);
}

}  // namespace hookgate
