// The objects behind the handles that the C interface gives out.
#ifndef FIA_ACLNN_HANDLE_TABLE_H_
#define FIA_ACLNN_HANDLE_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace fia::aclnn {

// A value that no handle of any kind had before. The high bits make it an address that no process has.
inline std::uintptr_t NewHandle() noexcept {
  static std::atomic<std::uint64_t> next{1};
  return std::uintptr_t{0xf1a0'0000'0000'0000} | next.fetch_add(1, std::memory_order_relaxed);
}

// Handles are looked up, never followed, so any value a caller passes is safe. Shards keep threads out of
// each other's way.
template <typename Object>
class HandleTable {
 public:
  // Takes `object` in and returns its handle. May throw std::bad_alloc.
  void* Insert(std::shared_ptr<Object> object) {
    const std::uintptr_t handle = NewHandle();
    Shard& shard = ShardOf(handle);
    const std::lock_guard<std::mutex> lock(shard.mutex);
    shard.objects.emplace(handle, std::move(object));
    return reinterpret_cast<void*>(handle);
  }

  // The object; null for a value that is no live handle of this table.
  std::shared_ptr<Object> Find(const void* handle) {
    Shard& shard = ShardOf(reinterpret_cast<std::uintptr_t>(handle));
    const std::lock_guard<std::mutex> lock(shard.mutex);
    const auto found = shard.objects.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == shard.objects.end() ? nullptr : found->second;
  }

  // Ends the handle and returns its object; null if it was no live handle.
  std::shared_ptr<Object> Remove(const void* handle) {
    Shard& shard = ShardOf(reinterpret_cast<std::uintptr_t>(handle));
    const std::lock_guard<std::mutex> lock(shard.mutex);
    const auto found = shard.objects.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == shard.objects.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    shard.objects.erase(found);
    return object;
  }

  // Calls visit(object) for every object. `visit` must not use this table.
  template <typename Visit>
  void ForEach(const Visit& visit) {
    for (Shard& shard : shards_) {
      const std::lock_guard<std::mutex> lock(shard.mutex);
      for (const auto& entry : shard.objects) visit(*entry.second);
    }
  }

 private:
  static constexpr std::size_t kShardCount = 16;

  struct alignas(64) Shard {
    std::mutex mutex;
    std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects;
  };

  Shard& ShardOf(std::uintptr_t handle) noexcept { return shards_[handle % kShardCount]; }

  Shard shards_[kShardCount];
};

// The table of one kind of object. It lives as long as the process: threads and static objects of the caller
// may use it during exit.
template <typename Object>
HandleTable<Object>& TableOf() {
  static HandleTable<Object>* const table = new HandleTable<Object>;
  return *table;
}

}  // namespace fia::aclnn

#endif  // FIA_ACLNN_HANDLE_TABLE_H_
