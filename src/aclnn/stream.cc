// Streams and events. All work is finished when its call returns: waiting never takes time.
#include "aclnn/stream.h"

#include <atomic>
#include <chrono>

#include "acl/acl_rt.h"
#include "aclnn/handle_table.h"

namespace fia::aclnn {
namespace {

struct Stream {};

constexpr std::int64_t kNotRecorded = -1;

struct Event {
  std::atomic<std::int64_t> nanoseconds{kNotRecorded};
};

std::int64_t Now() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Stores the handle of a new Object.
template <typename Object>
aclError Create(void** handle) noexcept {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  try {
    *handle = TableOf<Object>().Insert(std::make_shared<Object>());
    return ACL_SUCCESS;
  } catch (const std::bad_alloc&) {
    return ACL_ERROR_BAD_ALLOC;
  }
}

template <typename Object>
aclError Destroy(void* handle) {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  return TableOf<Object>().Remove(handle) ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
}

std::shared_ptr<Event> FindEvent(aclrtEvent event) { return TableOf<Event>().Find(event); }

// The code for a handle that is no live event.
aclError NoEvent(aclrtEvent event) {
  return event == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_PARAM_INVALID;
}

}  // namespace

bool IsStream(aclrtStream stream) { return stream == nullptr || TableOf<Stream>().Find(stream); }

}  // namespace fia::aclnn

using namespace fia::aclnn;

extern "C" {

aclError aclrtCreateStream(aclrtStream* stream) { return Create<Stream>(stream); }

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t /*priority*/, uint32_t /*flag*/) {
  return Create<Stream>(stream);
}

aclError aclrtDestroyStream(aclrtStream stream) { return Destroy<Stream>(stream); }

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return IsStream(stream) ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  if (!FindEvent(event)) return NoEvent(event);
  return IsStream(stream) ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
}

aclError aclrtCreateEvent(aclrtEvent* event) { return Create<Event>(event); }

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t /*flag*/) { return Create<Event>(event); }

aclError aclrtDestroyEvent(aclrtEvent event) { return Destroy<Event>(event); }

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  const auto found = FindEvent(event);
  if (!found) return NoEvent(event);
  if (!IsStream(stream)) return ACL_ERROR_RT_PARAM_INVALID;
  found->nanoseconds.store(Now());
  return ACL_SUCCESS;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  if (status == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto found = FindEvent(event);
  if (!found) return NoEvent(event);
  *status = found->nanoseconds.load() == kNotRecorded ? ACL_EVENT_RECORDED_STATUS_NOT_READY
                                                      : ACL_EVENT_RECORDED_STATUS_COMPLETE;
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) { return FindEvent(event) ? ACL_SUCCESS : NoEvent(event); }

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  if (ms == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto start = FindEvent(startEvent);
  if (!start) return NoEvent(startEvent);
  const auto end = FindEvent(endEvent);
  if (!end) return NoEvent(endEvent);
  const std::int64_t begin_time = start->nanoseconds.load();
  const std::int64_t end_time = end->nanoseconds.load();
  if (begin_time == kNotRecorded || end_time == kNotRecorded) return ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID;
  if (end_time < begin_time) return ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL;
  *ms = static_cast<float>(static_cast<double>(end_time - begin_time) * 1e-6);
  return ACL_SUCCESS;
}

}  // extern "C"
