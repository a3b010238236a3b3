#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace hookgate {

// The keys of events that were stored or met lately, for a guess whether a delivery is a duplicate,
// so that it need not be offered as new first. Only a guess: the unique index decides. A key pushes
// out another whose hash ends alike. Any thread.
class RecentKeys {
 public:
  static constexpr std::size_t kSlots = 1UL << 17U;  // of 8 bytes

  void add(std::string_view source, std::string_view scope, std::string_view event_id) {
    const auto key = hash(source, scope, event_id);
    slot(key).store(key, std::memory_order_relaxed);
  }
  bool has(std::string_view source, std::string_view scope, std::string_view event_id) const {
    const auto key = hash(source, scope, event_id);
    return slot(key).load(std::memory_order_relaxed) == key;
  }

 private:
  using Slot = std::atomic<std::uint64_t>;

  // The lowest bit is always set, so that no key looks like an empty slot.
  Slot& slot(std::uint64_t key) const { return slots_[(key >> 1U) % kSlots]; }
  static std::uint64_t hash(std::string_view source, std::string_view scope,
                            std::string_view event_id) {
    constexpr std::uint64_t kOddMultiplier =
        0x9E3779B97F4A7C15U;  // spreads the parts over all bits
    const std::hash<std::string_view> part;
    return ((part(source) * kOddMultiplier + part(scope)) * kOddMultiplier + part(event_id)) | 1U;
  }

  std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(kSlots);
};

}  // namespace hookgate
