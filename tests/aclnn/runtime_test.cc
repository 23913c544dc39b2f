// The runtime: device, contexts, memory, streams and events, right and wrong use of each.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace fia::testing {
namespace {

constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();

TEST(Process, InitAndFinalizeComeInPairs) {
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit("acl.json"), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST(Device, ThereIsOne) {
  std::uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  std::int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 0);
  for (const std::int32_t wrong : {-1, 1, std::numeric_limits<std::int32_t>::max()}) {
    EXPECT_EQ(aclrtSetDevice(wrong), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtResetDevice(wrong), ACL_ERROR_RT_INVALID_DEVICEID);
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
  aclrtRunMode mode = ACL_DEVICE;
  EXPECT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS);
  EXPECT_EQ(mode, ACL_HOST);
  EXPECT_STREQ(aclrtGetSocName(), "CPU");
}

TEST(Context, IsCurrentPerThread) {
  aclrtContext first = nullptr, second = nullptr, current = nullptr;
  ASSERT_EQ(aclrtCreateContext(&first, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&second, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(current, second);
  EXPECT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
  std::thread([first] {
    aclrtContext other = first;
    EXPECT_EQ(aclrtGetCurrentContext(&other), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(other, nullptr);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetCurrentContext(&other), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(other), ACL_ERROR_RT_PARAM_INVALID);  // the device's own
  }).join();
  EXPECT_EQ(aclrtDestroyContext(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(second), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(current, first);
  EXPECT_EQ(aclrtDestroyContext(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(first), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtCreateContext(&first, 3), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtCreateContext(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyContext(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(Memory, IsAlignedAndWritable) {
  for (const aclrtMemMallocPolicy policy :
       {ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{63}, std::size_t{1} << 20}) {
      void* memory = nullptr;
      ASSERT_EQ(aclrtMalloc(&memory, size, policy), ACL_SUCCESS);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
      std::memset(memory, 1, size);
      EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
    }
  }
}

TEST(Memory, WrongFreesAreRefused) {
  void *device = nullptr, *host = nullptr;
  int local = 0;
  ASSERT_EQ(aclrtMalloc(&device, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&host, 100), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(host), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(device), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(static_cast<char*>(device) + 8), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(&local), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(host), ACL_ERROR_RT_PARAM_INVALID);
}

TEST(Memory, WrongSizesAreRefused) {
  void* memory = &memory;
  EXPECT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(aclrtMalloc(&memory, kHuge, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(aclrtMallocHost(&memory, kHuge / 2), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(aclrtMalloc(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(nullptr, 1), ACL_ERROR_INVALID_PARAM);
  std::size_t free_bytes = 0, total_bytes = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), ACL_SUCCESS);
  EXPECT_GT(total_bytes, 0u);
  EXPECT_LE(free_bytes, total_bytes);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &total_bytes), ACL_ERROR_INVALID_PARAM);
}

TEST(Memory, CopiesAndFills) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  char from[] = "abcdefg", to[8] = {};
  for (const aclrtMemcpyKind kind : {ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE,
                                     ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE}) {
    EXPECT_EQ(aclrtMemset(to, 8, 0, 8), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(to, 8, from, 8, kind), ACL_SUCCESS);
    EXPECT_STREQ(to, "abcdefg");
    EXPECT_EQ(aclrtMemsetAsync(to, 8, 'z', 3, stream), ACL_SUCCESS);
    EXPECT_STREQ(to, "zzzdefg");
    EXPECT_EQ(aclrtMemcpyAsync(to, 8, from, 2, kind, stream), ACL_SUCCESS);
    EXPECT_STREQ(to, "abzdefg");
  }
  EXPECT_EQ(aclrtMemcpy(to, 4, from, 5, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy(nullptr, 4, from, 4, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy(to, 4, nullptr, 4, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy(to, 4, from, 4, static_cast<aclrtMemcpyKind>(99)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemset(to, 4, 0, 5), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemset(nullptr, 4, 0, 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_STREQ(to, "abzdefg");
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(to, 8, from, 8, ACL_MEMCPY_HOST_TO_HOST, stream), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemsetAsync(to, 8, 0, 8, stream), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_STREQ(to, "abzdefg");
}

TEST(Stream, LivesUntilDestroyed) {
  aclrtStream stream = nullptr, configured = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStreamWithConfig(&configured, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC),
            ACL_SUCCESS);
  EXPECT_NE(stream, configured);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDestroyStream(configured), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateStream(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(Event, MeasuresTheTimeBetweenTwo) {
  aclrtStream stream = nullptr;
  aclrtEvent start = nullptr, end = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&start), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  float ms = -1;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  EXPECT_EQ(aclrtQueryEventStatus(end, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(aclrtRecordEvent(start, stream), ACL_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(aclrtRecordEvent(end, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(stream, end), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(end), ACL_SUCCESS);
  EXPECT_EQ(aclrtQueryEventStatus(end, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
  EXPECT_GE(ms, 20.0f);
  EXPECT_LT(ms, 60000.0f);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, end, start), ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL);
  EXPECT_EQ(aclrtEventElapsedTime(nullptr, start, end), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(end, stream), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDestroyEvent(start), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(start), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeEvent(start), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRecordEvent(nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyEvent(end), ACL_SUCCESS);
}

TEST(DataType, SizesAreThoseOfOneElement) {
  const struct {
    aclDataType dtype;
    std::size_t size;
  } rows[] = {{ACL_FLOAT, 4},       {ACL_FLOAT16, 2},      {ACL_INT8, 1},
              {ACL_INT32, 4},       {ACL_UINT8, 1},        {ACL_INT16, 2},
              {ACL_UINT16, 2},      {ACL_UINT32, 4},       {ACL_INT64, 8},
              {ACL_UINT64, 8},      {ACL_DOUBLE, 8},       {ACL_BOOL, 1},
              {ACL_STRING, 0},      {ACL_BF16, 2},         {ACL_INT4, 1},
              {ACL_UINT1, 1},       {ACL_COMPLEX32, 4},    {ACL_COMPLEX64, 8},
              {ACL_COMPLEX128, 16}, {ACL_DT_UNDEFINED, 0}, {static_cast<aclDataType>(1 << 20), 0}};
  for (const auto& row : rows) EXPECT_EQ(aclDataTypeSize(row.dtype), row.size) << row.dtype;
}

}  // namespace
}  // namespace fia::testing
