#include "outbox/name_resolution.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

namespace hookgate {
namespace {

using Addresses = std::variant<std::vector<IpAddress>, NotResolved>;

constexpr int kLookUpsMax = 32;
std::atomic<int> look_ups = 0;

struct LookUp {
  std::mutex mutex;
  std::condition_variable_any done;
  std::optional<Addresses> result;  // guarded by mutex
};

std::optional<IpAddress> address_of(const addrinfo& entry) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (entry.ai_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(entry.ai_addr)->sin_addr;
  } else if (entry.ai_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(entry.ai_addr)->sin6_addr;
  }
  if (bytes == nullptr || ::inet_ntop(entry.ai_family, bytes, text.data(), text.size()) == nullptr)
    return std::nullopt;
  return IpAddress::parse(text.data());
}

Addresses ask_system(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) return NotResolved{std::string{"name not found: "} + ::gai_strerror(error)};
  std::vector<IpAddress> addresses;
  for (const auto* entry = list; entry != nullptr; entry = entry->ai_next) {
    const auto address = address_of(*entry);
    if (!address || std::ranges::find(addresses, *address) != addresses.end()) continue;
    if (addresses.size() < kAddressesMax) addresses.push_back(*address);
  }
  ::freeaddrinfo(list);
  if (addresses.empty()) return NotResolved{"name has no address"};
  return addresses;
}

}  // namespace

Addresses resolve(const std::string& host, std::chrono::steady_clock::time_point deadline,
                  const std::stop_token& abort) {
  if (const auto address = IpAddress::parse(host)) return std::vector{*address};
  if (look_ups.fetch_add(1) >= kLookUpsMax) {
    --look_ups;
    return NotResolved{"too many look-ups of names do not end"};
  }
  const auto look_up = std::make_shared<LookUp>();
  try {
    std::thread{[look_up, host] {
      auto result = ask_system(host);
      {
        const std::scoped_lock lock{look_up->mutex};
        look_up->result = std::move(result);
      }
      look_up->done.notify_all();
      --look_ups;
    }}.detach();
  } catch (const std::system_error&) {
    --look_ups;
    return NotResolved{"no thread for a look-up of the name"};
  }
  std::unique_lock lock{look_up->mutex};
  look_up->done.wait_until(lock, abort, deadline, [&] { return look_up->result.has_value(); });
  if (!look_up->result) return NotResolved{"look-up of the name took too long"};
  return *std::move(look_up->result);
}

}  // namespace hookgate
