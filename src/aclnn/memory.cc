// Device and host memory: both the process's own.
#include <sys/sysinfo.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <unordered_map>

#include "acl/acl_rt.h"
#include "aclnn/stream.h"

namespace fia::aclnn {
namespace {

constexpr std::size_t kAlignment = 64;

enum class Place { kDevice, kHost };

// What was given out and not freed, so that a pointer freed twice, or never allocated here, is told.
class Allocations {
 public:
  void Add(void* memory, Place place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    places_.emplace(memory, place);
  }

  bool Remove(void* memory, Place place) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = places_.find(memory);
    if (found == places_.end() || found->second != place) return false;
    places_.erase(found);
    return true;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<void*, Place> places_;
};

Allocations& Live() {
  static Allocations* const live = new Allocations;
  return *live;
}

// Bytes of memory that the machine has, free and in all.
bool MachineMemory(std::size_t* free_bytes, std::size_t* total_bytes) noexcept {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return false;
  *free_bytes = static_cast<std::size_t>(info.freeram) * info.mem_unit;
  *total_bytes = static_cast<std::size_t>(info.totalram) * info.mem_unit;
  return true;
}

aclError Allocate(void** memory, std::size_t size, Place place) noexcept {
  if (memory == nullptr) return ACL_ERROR_INVALID_PARAM;
  *memory = nullptr;
  if (size == 0) return ACL_ERROR_INVALID_PARAM;
  // Like a device, the machine has no more memory than is built in.
  std::size_t free_bytes = 0, total_bytes = 0;
  if (MachineMemory(&free_bytes, &total_bytes) && size > total_bytes) return ACL_ERROR_RT_MEMORY_ALLOCATION;
  void* allocated = nullptr;
  if (posix_memalign(&allocated, kAlignment, size) != 0) return ACL_ERROR_RT_MEMORY_ALLOCATION;
  try {
    Live().Add(allocated, place);
  } catch (const std::exception&) {
    std::free(allocated);
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  }
  *memory = allocated;
  return ACL_SUCCESS;
}

aclError Free(void* memory, Place place) noexcept {
  if (memory == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (!Live().Remove(memory, place)) return ACL_ERROR_RT_PARAM_INVALID;
  std::free(memory);
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace fia::aclnn

using namespace fia::aclnn;

extern "C" {

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy /*policy*/) {
  return Allocate(devPtr, size, Place::kDevice);
}

aclError aclrtFree(void* devPtr) { return Free(devPtr, Place::kDevice); }

aclError aclrtMallocHost(void** hostPtr, size_t size) { return Allocate(hostPtr, size, Place::kHost); }

aclError aclrtFreeHost(void* hostPtr) { return Free(hostPtr, Place::kHost); }

aclError aclrtGetMemInfo(aclrtMemAttr /*attr*/, size_t* free, size_t* total) {
  if (free == nullptr || total == nullptr) return ACL_ERROR_INVALID_PARAM;
  return MachineMemory(free, total) ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  if (dst == nullptr || src == nullptr || count > destMax) return ACL_ERROR_INVALID_PARAM;
  if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_DEVICE_TO_DEVICE) return ACL_ERROR_INVALID_PARAM;
  std::memmove(dst, src, count);
  return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  if (!IsStream(stream)) return ACL_ERROR_RT_PARAM_INVALID;
  return aclrtMemcpy(dst, destMax, src, count, kind);
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  if (devPtr == nullptr || count > maxCount) return ACL_ERROR_INVALID_PARAM;
  std::memset(devPtr, value, count);
  return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  if (!IsStream(stream)) return ACL_ERROR_RT_PARAM_INVALID;
  return aclrtMemset(devPtr, maxCount, value, count);
}

}  // extern "C"
