// The device and its contexts. There is one device, the CPU; a context only remembers it.
#include <atomic>

#include "acl/acl.h"
#include "aclnn/handle_table.h"

namespace fia::aclnn {
namespace {

constexpr std::int32_t kDevice = 0;

struct Context {
  std::int32_t device = kDevice;
};

enum class Lifetime { kNew, kInitialised, kFinalised };

std::atomic<Lifetime> lifetime{Lifetime::kNew};
thread_local aclrtContext current_context = nullptr;

// The context that aclrtSetDevice makes current; null when it cannot be made.
aclrtContext DefaultContext() noexcept {
  try {
    static aclrtContext context = TableOf<Context>().Insert(std::make_shared<Context>());
    return context;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::shared_ptr<Context> CurrentContext() { return TableOf<Context>().Find(current_context); }

}  // namespace
}  // namespace fia::aclnn

using namespace fia::aclnn;

extern "C" {

aclError aclInit(const char* /*configPath*/) {
  return lifetime.exchange(Lifetime::kInitialised) == Lifetime::kInitialised ? ACL_ERROR_REPEAT_INITIALIZE
                                                                             : ACL_SUCCESS;
}

aclError aclFinalize(void) {
  Lifetime expected = Lifetime::kInitialised;
  if (lifetime.compare_exchange_strong(expected, Lifetime::kFinalised)) return ACL_SUCCESS;
  return expected == Lifetime::kNew ? ACL_ERROR_UNINITIALIZE : ACL_ERROR_REPEAT_FINALIZE;
}

aclError aclrtSetDevice(int32_t deviceId) {
  if (deviceId != kDevice) return ACL_ERROR_RT_INVALID_DEVICEID;
  aclrtContext context = DefaultContext();
  if (context == nullptr) return ACL_ERROR_BAD_ALLOC;
  current_context = context;
  return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t deviceId) {
  if (deviceId != kDevice) return ACL_ERROR_RT_INVALID_DEVICEID;
  current_context = nullptr;
  return ACL_SUCCESS;
}

aclError aclrtGetDevice(int32_t* deviceId) {
  if (deviceId == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto context = CurrentContext();
  if (!context) return ACL_ERROR_RT_CONTEXT_NULL;
  *deviceId = context->device;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  if (count == nullptr) return ACL_ERROR_INVALID_PARAM;
  *count = 1;
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeDevice(void) { return ACL_SUCCESS; }

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  if (runMode == nullptr) return ACL_ERROR_INVALID_PARAM;
  *runMode = ACL_HOST;
  return ACL_SUCCESS;
}

const char* aclrtGetSocName(void) { return "CPU"; }

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  if (context == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (deviceId != kDevice) return ACL_ERROR_RT_INVALID_DEVICEID;
  try {
    *context = TableOf<Context>().Insert(std::make_shared<Context>());
  } catch (const std::bad_alloc&) {
    return ACL_ERROR_BAD_ALLOC;
  }
  current_context = *context;
  return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context) {
  if (context == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (context == DefaultContext() || !TableOf<Context>().Remove(context)) return ACL_ERROR_RT_PARAM_INVALID;
  if (context == current_context) current_context = nullptr;
  return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  if (context == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (!TableOf<Context>().Find(context)) return ACL_ERROR_RT_PARAM_INVALID;
  current_context = context;
  return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  if (context == nullptr) return ACL_ERROR_INVALID_PARAM;
  *context = CurrentContext() ? current_context : nullptr;
  return *context != nullptr ? ACL_SUCCESS : ACL_ERROR_RT_CONTEXT_NULL;
}

}  // extern "C"
