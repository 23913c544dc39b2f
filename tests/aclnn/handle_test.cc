// Descriptions: what they hold, how long they live, and that nothing a caller does with a handle can crash.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "aclnn/operator_call.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::vector<std::int64_t> Shape(const aclTensor* tensor) {
  std::int64_t* dims = nullptr;
  std::uint64_t count = 0;
  EXPECT_EQ(aclGetViewShape(tensor, &dims, &count), ACL_SUCCESS);
  const std::vector<std::int64_t> shape(dims, dims + count);
  delete[] dims;
  return shape;
}

std::vector<std::int64_t> Strides(const aclTensor* tensor) {
  std::int64_t* strides = nullptr;
  std::uint64_t count = 0;
  EXPECT_EQ(aclGetViewStrides(tensor, &strides, &count), ACL_SUCCESS);
  const std::vector<std::int64_t> result(strides, strides + count);
  delete[] strides;
  return result;
}

TEST(AclTensor, HoldsWhatItWasMadeFrom) {
  const std::int64_t dims[] = {2, 3, 4}, strides[] = {1, 2, 6}, storage[] = {24};
  float data[30] = {};
  aclTensor* tensor = aclCreateTensor(dims, 3, ACL_BF16, strides, 5, ACL_FORMAT_NCL, storage, 1, data);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(Shape(tensor), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(Strides(tensor), (std::vector<std::int64_t>{1, 2, 6}));
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  void* address = nullptr;
  std::int64_t offset = 0;
  EXPECT_EQ(aclGetDataType(tensor, &dtype), ACL_SUCCESS);
  EXPECT_EQ(aclGetFormat(tensor, &format), ACL_SUCCESS);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), ACL_SUCCESS);
  EXPECT_EQ(aclGetViewOffset(tensor, &offset), ACL_SUCCESS);
  EXPECT_EQ(dtype, ACL_BF16);
  EXPECT_EQ(format, ACL_FORMAT_NCL);
  EXPECT_EQ(address, data);
  EXPECT_EQ(offset, 5);
  EXPECT_EQ(aclSetRawTensorAddr(tensor, data + 1), ACL_SUCCESS);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), ACL_SUCCESS);
  EXPECT_EQ(address, data + 1);
  EXPECT_EQ(aclDestroyTensor(tensor), ACL_SUCCESS);
}

TEST(AclTensor, WithoutStridesIsRowMajor) {
  aclTensor* tensor = MakeAclTensor({2, 3, 4}, ACL_FLOAT, nullptr);
  EXPECT_EQ(Strides(tensor), (std::vector<std::int64_t>{12, 4, 1}));
  aclDestroyTensor(tensor);
}

TEST(AclTensor, TakesAnyNumbers) {
  const std::vector<std::vector<std::int64_t>> shapes = {{},
                                                         {0},
                                                         {-1, kMin},
                                                         {kMax, kMax, kMax},
                                                         std::vector<std::int64_t>(9, 2),
                                                         std::vector<std::int64_t>(64, kMax)};
  for (const auto& shape : shapes) {
    for (const std::int64_t offset : {std::int64_t{0}, kMin, kMax, std::int64_t{-1}}) {
      aclTensor* tensor = aclCreateTensor(shape.data(), shape.size(), static_cast<aclDataType>(12345),
                                          nullptr, offset, static_cast<aclFormat>(-77), nullptr, 0, nullptr);
      ASSERT_NE(tensor, nullptr);
      EXPECT_EQ(Shape(tensor), shape);
      EXPECT_EQ(Strides(tensor).size(), shape.size());
      EXPECT_EQ(aclDestroyTensor(tensor), ACL_SUCCESS);
    }
  }
}

TEST(AclTensor, IsRefusedWithoutReadingDims) {
  const std::int64_t one = 1;
  const auto make = [](const std::int64_t* dims, std::uint64_t count) {
    return aclCreateTensor(dims, count, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
  };
  EXPECT_EQ(make(nullptr, 1), nullptr);
  EXPECT_EQ(make(&one, 65), nullptr);
  EXPECT_EQ(make(&one, std::numeric_limits<std::uint64_t>::max()), nullptr);
}

TEST(Arrays, HoldTheirSizes) {
  const std::int64_t ints[] = {1, 2, 3};
  const float floats[] = {1, 2};
  const bool bools[] = {true};
  std::uint64_t size = 0;
  aclIntArray* int_array = aclCreateIntArray(ints, 3);
  EXPECT_EQ(aclGetIntArraySize(int_array, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 3u);
  aclFloatArray* float_array = aclCreateFloatArray(floats, 2);
  EXPECT_EQ(aclGetFloatArraySize(float_array, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 2u);
  aclBoolArray* bool_array = aclCreateBoolArray(bools, 1);
  EXPECT_EQ(aclGetBoolArraySize(bool_array, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 1u);
  aclIntArray* empty = aclCreateIntArray(nullptr, 0);
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(aclGetIntArraySize(empty, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 0u);
  for (const aclIntArray* array : {int_array, empty, int_array})
    EXPECT_EQ(aclDestroyIntArray(array), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyFloatArray(float_array), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyBoolArray(bool_array), ACL_SUCCESS);
  EXPECT_EQ(aclGetIntArraySize(int_array, &size), ACLNN_ERR_PARAM_NULLPTR);
}

TEST(Arrays, HugeCountsAndNullSourcesAreRefused) {
  const std::int64_t number = 0;
  const aclTensor* member = nullptr;
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(aclCreateIntArray(&number, huge), nullptr);
  EXPECT_EQ(aclCreateIntArray(&number, huge / 8), nullptr);
  EXPECT_EQ(aclCreateIntArray(nullptr, 1), nullptr);
  EXPECT_EQ(aclCreateTensorList(&member, huge), nullptr);
  EXPECT_EQ(aclCreateTensorList(nullptr, 1), nullptr);
  EXPECT_EQ(aclCreateScalar(nullptr, ACL_FLOAT), nullptr);
}

TEST(Scalar, CopiesEveryTypeWithASize) {
  unsigned char bytes[16] = {};
  for (const aclDataType dtype : {ACL_FLOAT, ACL_BOOL, ACL_COMPLEX128, ACL_INT4}) {
    aclScalar* scalar = aclCreateScalar(bytes, dtype);
    EXPECT_NE(scalar, nullptr);
    EXPECT_EQ(aclDestroyScalar(scalar), ACL_SUCCESS);
  }
  EXPECT_EQ(aclCreateScalar(bytes, ACL_STRING), nullptr);
  EXPECT_EQ(aclCreateScalar(bytes, static_cast<aclDataType>(1000)), nullptr);
}

TEST(Lifetime, DestroyingTwiceOrNothingDoesNothing) {
  aclTensor* tensor = MakeAclTensor({1}, ACL_FLOAT, nullptr);
  EXPECT_EQ(aclDestroyTensor(tensor), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(tensor), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyTensorList(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyIntArray(nullptr), ACL_SUCCESS);
  int not_a_handle = 0;
  EXPECT_EQ(aclDestroyTensor(reinterpret_cast<aclTensor*>(&not_a_handle)), ACL_SUCCESS);
  std::int64_t* dims = nullptr;
  std::uint64_t count = 0;
  EXPECT_EQ(aclGetViewShape(tensor, &dims, &count), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetViewShape(nullptr, &dims, &count), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclSetRawTensorAddr(tensor, nullptr), ACLNN_ERR_RUNTIME_ERROR);
}

TEST(Lifetime, AListTakesItsMembersAlongInAnyOrder) {
  aclTensor* tensor = MakeAclTensor({1}, ACL_FLOAT, nullptr);
  const aclTensor* members[] = {tensor, tensor};
  aclTensorList* first = aclCreateTensorList(members, 2);
  aclTensorList* second = aclCreateTensorList(members, 1);
  std::uint64_t size = 0;
  EXPECT_EQ(aclGetTensorListSize(first, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(aclDestroyTensorList(first), ACL_SUCCESS);
  void* address = nullptr;
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetTensorListSize(second, &size), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(tensor), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyTensorList(second), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyTensorList(second), ACL_SUCCESS);
}

TEST(Lifetime, HandlesOfOneKindAreNoHandlesOfAnother) {
  aclTensor* tensor = MakeAclTensor({1}, ACL_FLOAT, nullptr);
  aclIntArray* array = aclCreateIntArray(nullptr, 0);
  EXPECT_EQ(aclDestroyIntArray(reinterpret_cast<aclIntArray*>(tensor)), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(reinterpret_cast<aclTensor*>(array)), ACL_SUCCESS);
  EXPECT_EQ(Shape(tensor), std::vector<std::int64_t>{1});
  std::uint64_t size = 1;
  EXPECT_EQ(aclGetIntArraySize(array, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 0u);
  aclDestroyTensor(tensor);
  aclDestroyIntArray(array);
}

TEST(Lifetime, HandlesAreNeverReusedAcrossThreads) {
  constexpr int kThreads = 4, kEach = 500;
  std::vector<std::vector<aclTensor*>> made(kThreads);
  std::vector<std::thread> threads;
  for (auto& own : made) {
    threads.emplace_back([&own] {
      for (int i = 0; i < kEach; ++i) {
        own.push_back(MakeAclTensor({i}, ACL_FLOAT, nullptr));
        aclDestroyTensor(own.back());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<aclTensor*> distinct;
  for (const auto& own : made) distinct.insert(own.begin(), own.end());
  EXPECT_EQ(distinct.size(), static_cast<std::size_t>(kThreads * kEach));
}

}  // namespace
}  // namespace fia::testing
