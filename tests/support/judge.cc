#include "support/judge.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "support/tensor.h"

namespace fia::testing {
namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr unsigned char kGuard = 0x5c;

void FillView(const TensorView& view, double value) {
  if (!view.present() || view.data == nullptr) return;
  std::int64_t indices[kMaxRank] = {};
  for (int axis = 0; axis < view.rank; ++axis) {
    if (view.dims[axis] <= 0) return;
  }
  for (;;) {
    std::int64_t position = 0;
    for (int axis = 0; axis < view.rank; ++axis) position += indices[axis] * view.strides[axis];
    StoreElement(view.data, view.dtype, position, value);
    int axis = view.rank - 1;
    while (axis >= 0 && ++indices[axis] == view.dims[axis]) indices[axis--] = 0;
    if (axis < 0) return;
  }
}

Status Failure(const char* rule, const char* message) {
  Status status;
  status.code = StatusCode::kRuntimeError;
  status.parameter = "workspace";
  status.rule = rule;
  status.message = message;
  return status;
}

}  // namespace

void PoisonOutputs(const AttentionParams& params) {
  const bool int8_output = params.attention_out.dtype == DataType::kInt8;
  FillView(params.attention_out, int8_output ? 85.0 : std::numeric_limits<double>::quiet_NaN());
  if (params.softmax_lse) FillView(*params.softmax_lse, std::numeric_limits<double>::quiet_NaN());
}

Status RunCall(const AttentionParams& params) {
  Executor executor;
  std::uint64_t size = 0;
  Status status = GetWorkspaceSize(params, &size, &executor);
  if (!status.ok()) return status;
  std::vector<unsigned char> buffer(static_cast<std::size_t>(size) + 2 * kGuardBytes, kGuard);
  status = Execute(size == 0 ? nullptr : buffer.data() + kGuardBytes, size, executor);
  if (!status.ok()) return status;
  for (std::size_t index = 0; index < kGuardBytes; ++index) {
    if (buffer[index] != kGuard) return Failure("guard", "bytes before the workspace have changed");
    if (buffer[buffer.size() - 1 - index] != kGuard)
      return Failure("guard", "bytes after the workspace have changed");
  }
  return status;
}

::testing::AssertionResult MatchesReference(const AttentionParams& params,
                                            const std::vector<RowIndex>* rows) {
  PoisonOutputs(params);
  ReferenceResult reference;
  Status status = ComputeReference(params, rows, &reference);
  if (!status.ok()) return ::testing::AssertionFailure() << "reference: " << status.message;
  status = RunCall(params);
  if (!status.ok()) return ::testing::AssertionFailure() << "call: " << status.message;
  const Comparison comparison = CompareWithReference(params, reference);
  if (!comparison.passed) return ::testing::AssertionFailure() << comparison.message;
  return ::testing::AssertionSuccess() << comparison.message;
}

void ExpectMatchesReference(const AttentionParams& params) { EXPECT_TRUE(MatchesReference(params)); }

::testing::AssertionResult IsRefused(const AttentionParams& params, StatusCode code, const char* rule) {
  Executor executor;
  std::uint64_t size = 1;
  const Status status = GetWorkspaceSize(params, &size, &executor);
  if (status.code != code || status.rule != rule) {
    return ::testing::AssertionFailure()
           << "got " << static_cast<int>(status.code) << " rule '" << status.rule << "': " << status.message
           << "; expected " << static_cast<int>(code) << " rule '" << rule << "'";
  }
  if (size != 0 || executor.valid())
    return ::testing::AssertionFailure() << "a refused call left a workspace size or an executor";
  return ::testing::AssertionSuccess() << status.message;
}

}  // namespace fia::testing
