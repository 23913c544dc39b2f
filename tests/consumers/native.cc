// One small attention call through the native interface, with a result that can be worked out by hand.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "fia/attention.h"
#include "fia/half.h"

namespace {

constexpr std::int64_t kHeads = 8, kQueries = 64, kKeys = 2, kDim = 64;

// Every query scores ln 3 against the first key and 0 against the second: weights 3/4 and 1/4, lse ln 4.
// With values 1 and 3 the result is 3/2.
bool Run() {
  std::vector<std::uint16_t> query(kHeads * kQueries * kDim), key(kHeads * kKeys * kDim);
  std::vector<std::uint16_t> value(kHeads * kKeys * kDim), out(kHeads * kQueries * kDim);
  std::vector<float> lse(kHeads * kQueries);
  for (std::int64_t row = 0; row < kHeads * kQueries; ++row) query[row * kDim] = fia::FloatToHalf(1.0f);
  for (std::int64_t head = 0; head < kHeads; ++head) {
    key[head * kKeys * kDim] = fia::FloatToHalf(std::log(3.0f));
    for (std::int64_t d = 0; d < kDim; ++d) {
      value[head * kKeys * kDim + d] = fia::FloatToHalf(1.0f);
      value[(head * kKeys + 1) * kDim + d] = fia::FloatToHalf(3.0f);
    }
  }

  const auto half = fia::DataType::kFloat16;
  fia::AttentionParams params;
  params.query = fia::TensorView::Contiguous(query.data(), half, {1, kHeads, kQueries, kDim});
  params.key = {fia::TensorView::Contiguous(key.data(), half, {1, kHeads, kKeys, kDim})};
  params.value = {fia::TensorView::Contiguous(value.data(), half, {1, kHeads, kKeys, kDim})};
  params.attention_out = fia::TensorView::Contiguous(out.data(), half, {1, kHeads, kQueries, kDim});
  params.softmax_lse =
      fia::TensorView::Contiguous(lse.data(), fia::DataType::kFloat32, {1, kHeads, kQueries, 1});
  params.heads.layout = "BNSD";
  params.heads.num_heads = kHeads;
  params.execution.num_threads = 2;

  std::uint64_t workspace_size = 0;
  fia::Executor executor;
  fia::Status status = fia::GetWorkspaceSize(params, &workspace_size, &executor);
  std::vector<unsigned char> workspace(workspace_size);
  if (status.ok()) status = fia::Execute(workspace.data(), workspace_size, executor);
  if (!status.ok()) {
    std::printf("%s\n", status.message.c_str());
    return false;
  }

  int wrong = 0;
  for (std::uint16_t element : out) wrong += !(std::fabs(fia::HalfToFloat(element) - 1.5f) < 2e-3f);
  for (float element : lse) wrong += !(std::fabs(element - std::log(4.0f)) < 1e-3f);
  std::printf("fia %s, %s: %d wrong elements\n", fia::Version(), fia::ActiveIsa(), wrong);
  return wrong == 0;
}

}  // namespace

// What the plugin shows: 0 when the result is right.
extern "C" __attribute__((visibility("default"))) int RunNativeAttention() { return Run() ? 0 : 1; }
