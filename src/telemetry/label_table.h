#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hookgate {

// What belongs to the values of one label, made when a value is first seen. At most `names_max`
// values; all further ones share the entry of `overflow`. Any thread; finding a known value takes
// no lock, entries stay where they are until the table goes.
template <typename Entry>
class LabelTable {
 public:
  using Make = std::function<Entry(const std::string& name)>;

  LabelTable(std::size_t names_max, std::string overflow, Make make)
      : names_max_(names_max),
        make_(std::move(make)),
        overflow_{overflow, make_(overflow)},
        slots_(std::bit_ceil(2 * names_max)) {}

  Entry& at(std::string_view name) {
    if (name == overflow_.name) return overflow_.entry;
    const auto mask = slots_.size() - 1;
    auto slot = std::hash<std::string_view>{}(name)&mask;
    // The table is at most half full, so a free slot ends every search.
    for (;; slot = (slot + 1) & mask) {
      auto* node = slots_[slot].load(std::memory_order_acquire);
      if (node == nullptr) node = insert(slot, name);
      if (node == nullptr) return overflow_.entry;
      if (node->name == name) return node->entry;
    }
  }

 private:
  struct Node {
    std::string name;
    Entry entry;
  };

  // The node that is in the slot now, of this name or of one that was faster; null when the table
  // is full.
  Node* insert(std::size_t slot, std::string_view name) {
    const std::scoped_lock lock{mutex_};
    if (auto* present = slots_[slot].load(std::memory_order_relaxed)) return present;
    if (nodes_.size() >= names_max_) return nullptr;
    const std::string text{name};
    nodes_.push_back(std::unique_ptr<Node>{new Node{text, make_(text)}});
    slots_[slot].store(nodes_.back().get(), std::memory_order_release);
    return nodes_.back().get();
  }

  const std::size_t names_max_;
  const Make make_;
  Node overflow_;
  std::vector<std::atomic<Node*>> slots_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Node>> nodes_;  // guarded by mutex_
};

}  // namespace hookgate
