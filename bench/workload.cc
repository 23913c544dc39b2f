#include "workload.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "eigen_attention.h"
#include "fia/half.h"
#include "fia/reference.h"

namespace fia::bench {
namespace {

constexpr std::int64_t kColdBytes = std::int64_t{512}
                                    << 20;  // all copies of the cache together: past any CPU cache
constexpr std::int64_t kMaxCopies = 64;

std::int64_t BytesOf(DataType dtype, std::int64_t elements) {
  switch (dtype) {
    case DataType::kInt4:
      return elements / 2;
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kBool:
      return elements;
    case DataType::kFloat32:
    case DataType::kInt32:
      return elements * 4;
    default:
      return elements * 2;
  }
}

// A cheap generator: benchmarks fill gigabytes.
class FastRandom {
 public:
  std::uint64_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15u;
};

// 16-bit patterns of normally distributed numbers, to be drawn from.
std::vector<std::uint16_t> NormalPatterns(DataType dtype) {
  std::mt19937 generator(7);
  std::normal_distribution<float> normal(0.0f, 1.0f);
  std::vector<std::uint16_t> patterns(65536);
  for (std::uint16_t& pattern : patterns) {
    const float value = normal(generator);
    pattern = dtype == DataType::kFloat16 ? FloatToHalf(value) : FloatToBfloat16(value);
  }
  return patterns;
}

std::int64_t CacheDim(DataType dtype) { return dtype == DataType::kInt8 ? 32 : 16; }

}  // namespace

Workload::Workload(const Case& one) : case_(one) {
  params_.heads = {.layout = "BNSD", .num_heads = one.model.heads, .num_kv_heads = one.model.kv_heads};
  params_.scores.scale = 1.0 / std::sqrt(static_cast<double>(one.model.head_dim));
  params_.scores.inner_precise = one.inner_precise;
  params_.execution.check = Check::kRelaxed;
  params_.execution.num_threads = one.threads;
  MakeQueryAndOutput();
  MakeCaches();
  MakeLengthsAndMask();
  MakeExtras();
  if (one.kv_scales != KvScales::kNone) MakeScales();
}

void* Workload::Allocate(std::int64_t bytes) {
  buffers_.push_back(Buffer(new std::uint8_t[static_cast<std::size_t>(bytes + 64)]));
  void* start = buffers_.back().get();
  std::size_t space = static_cast<std::size_t>(bytes + 64);
  return std::align(64, static_cast<std::size_t>(bytes), start, space);
}

void* Workload::AllocateRandom(std::int64_t elements, DataType dtype) {
  static FastRandom random;
  const std::int64_t bytes = BytesOf(dtype, elements);
  void* data = Allocate(bytes);
  if (dtype == DataType::kFloat16 || dtype == DataType::kBfloat16) {
    static const std::vector<std::uint16_t> kHalf = NormalPatterns(DataType::kFloat16);
    static const std::vector<std::uint16_t> kBfloat = NormalPatterns(DataType::kBfloat16);
    const std::vector<std::uint16_t>& patterns = dtype == DataType::kFloat16 ? kHalf : kBfloat;
    auto* to = static_cast<std::uint16_t*>(data);
    for (std::int64_t i = 0; i < elements; ++i) to[i] = patterns[random.Next() >> 48];
  } else {
    auto* to = static_cast<std::uint8_t*>(data);
    for (std::int64_t i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(random.Next() >> 56);
  }
  return data;
}

void Workload::MakeQueryAndOutput() {
  const Model& model = case_.model;
  const std::int64_t rows = case_.batch * model.heads * case_.query_length;
  const auto view = [&](void* data, std::int64_t dim) {
    return TensorView::Contiguous(data, case_.query_dtype,
                                  {case_.batch, model.heads, case_.query_length, dim});
  };
  params_.query = view(AllocateRandom(rows * model.head_dim, case_.query_dtype), model.head_dim);
  params_.attention_out = view(Allocate(BytesOf(case_.query_dtype, rows * model.value_dim)), model.value_dim);
  if (model.rope_dim > 0) {
    params_.rope.emplace();
    params_.rope->query = view(AllocateRandom(rows * model.rope_dim, case_.query_dtype), model.rope_dim);
  }
}

void Workload::MakeCaches() {
  const Model& model = case_.model;
  const DataType dtype = case_.kv_dtype;
  const std::int64_t block = case_.storage == Storage::kPaged16 ? 16 : 128;
  const bool paged = case_.storage != Storage::kContiguous;
  const std::int64_t width = (case_.kv_length + block - 1) / block;
  const std::int64_t blocks = case_.batch * width;
  const auto view = [&](void* data, std::int64_t dim) {
    if (!paged)
      return TensorView::Contiguous(data, dtype, {case_.batch, model.kv_heads, case_.kv_length, dim});
    if (case_.storage == Storage::kFractalNz128) {
      const std::int64_t inner = CacheDim(dtype);
      return TensorView::Contiguous(data, dtype, {blocks, model.kv_heads, dim / inner, block, inner});
    }
    return TensorView::Contiguous(data, dtype, {blocks, model.kv_heads, block, dim});
  };
  const std::int64_t rows = model.kv_heads * (paged ? blocks * block : case_.batch * case_.kv_length);
  const std::int64_t bytes = std::max<std::int64_t>(1, case_.KvBytes());
  const std::int64_t copies = case_.decode() && case_.timed == Timed::kExecute
                                  ? std::clamp<std::int64_t>(kColdBytes / bytes, 1, kMaxCopies)
                                  : 1;
  for (std::int64_t copy = 0; copy < copies; ++copy) {
    keys_.push_back(AllocateRandom(rows * model.head_dim, dtype));
    // The compressed cache of latent attention is key and value at once.
    values_.push_back(model.rope_dim > 0 ? keys_.back() : AllocateRandom(rows * model.value_dim, dtype));
    if (model.rope_dim > 0) ropes_.push_back(AllocateRandom(rows * model.rope_dim, dtype));
  }
  params_.key = {view(keys_[0], model.head_dim)};
  params_.value = {view(values_[0], model.value_dim)};
  if (model.rope_dim > 0) params_.rope->key = view(ropes_[0], model.rope_dim);
  if (paged) {
    params_.paged.emplace();
    params_.paged->block_size = block;
    MakePagedTable(blocks, width);
  }
}

void Workload::MakePagedTable(std::int64_t blocks, std::int64_t width) {
  auto* table = static_cast<std::int32_t*>(Allocate(blocks * 4));
  std::iota(table, table + blocks, 0);
  std::shuffle(table, table + blocks, std::mt19937(11));
  params_.paged->block_table = TensorView::Contiguous(table, DataType::kInt32, {case_.batch, width});
}

void Workload::MakeLengthsAndMask() {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(case_.batch), case_.kv_length);
  if (case_.short_kv_length > 0) std::fill(lengths.begin() + 1, lengths.end(), case_.short_kv_length);
  params_.lengths.emplace();
  params_.lengths->key_value = std::move(lengths);
  if (case_.attends == Attends::kFull) return;
  void* triangle = Allocate(2048 * 2048);
  std::memset(triangle, 0, 2048 * 2048);
  params_.mask.emplace();
  params_.mask->tensor = TensorView::Contiguous(triangle, DataType::kBool, {2048, 2048});
  params_.mask->sparse_mode = case_.attends == Attends::kCausal ? 3 : 4;
  params_.mask->pre_tokens = 1024;
  params_.mask->next_tokens = 0;
}

void Workload::MakeExtras() {
  const std::int64_t pairs = case_.query_length * case_.kv_length;
  if (case_.extra == Extra::kBias) {
    void* bias = AllocateRandom(case_.model.heads * pairs, case_.query_dtype);
    params_.scores.pse_shift = TensorView::Contiguous(
        bias, case_.query_dtype, {1, case_.model.heads, case_.query_length, case_.kv_length});
  } else if (case_.extra == Extra::kFullMask) {
    auto* mask = static_cast<std::uint8_t*>(Allocate(pairs));
    FastRandom random;
    for (std::int64_t i = 0; i < pairs; ++i) mask[i] = random.Next() >> 61 == 0 ? 1 : 0;
    params_.mask.emplace();
    params_.mask->tensor =
        TensorView::Contiguous(mask, DataType::kBool, {1, 1, case_.query_length, case_.kv_length});
    params_.mask->sparse_mode = 1;
  }
}

void Workload::MakeScales() {
  const Model& model = case_.model;
  KvAntiquant antiquant;
  const auto fill = [&](std::int64_t count) {
    auto* scales = static_cast<float*>(Allocate(count * 4));
    for (std::int64_t i = 0; i < count; ++i) scales[i] = 0.01f + 0.0001f * static_cast<float>(i % 64);
    return scales;
  };
  const auto channel = [&](std::int64_t dim) {
    const std::int64_t count = model.kv_heads * dim;
    const float* scales = fill(count);
    auto* narrow = static_cast<std::uint16_t*>(Allocate(count * 2));
    const bool half = case_.query_dtype == DataType::kFloat16;
    for (std::int64_t i = 0; i < count; ++i)
      narrow[i] = half ? FloatToHalf(scales[i]) : FloatToBfloat16(scales[i]);
    return TensorView::Contiguous(narrow, case_.query_dtype, {1, model.kv_heads, 1, dim});
  };
  const auto token = [&] {
    return TensorView::Contiguous(fill(case_.batch * case_.kv_length), DataType::kFloat32,
                                  {1, case_.batch, case_.kv_length});
  };
  const bool per_token = case_.kv_scales == KvScales::kToken;
  antiquant.key_scale = per_token ? token() : channel(model.head_dim);
  antiquant.value_scale = per_token ? token() : channel(model.value_dim);
  antiquant.key_mode = antiquant.value_mode = per_token ? 1 : 0;
  params_.quantisation.emplace();
  params_.quantisation->kv_antiquant = antiquant;
}

std::string Workload::Plan() {
  const Status status = GetWorkspaceSize(params_, &workspace_bytes_, &executor_);
  if (!status.ok()) return status.message;
  workspace_.resize(workspace_bytes_);
  return "";
}

std::string Workload::Run() {
  const std::size_t copy = next_++ % keys_.size();
  executor_.SetAddress(Argument::kKey, 0, keys_[copy]);
  executor_.SetAddress(Argument::kValue, 0, values_[copy]);
  if (!ropes_.empty()) executor_.SetAddress(Argument::kKeyRope, 0, ropes_[copy]);
  return Execute(workspace_.data(), workspace_.size(), executor_).message;
}

std::string Workload::RunTimed() {
  if (case_.timed == Timed::kPlan) return Plan();
  if (case_.timed == Timed::kWholeCall) Plan();
  return Run();
}

std::string Workload::RunFirst() {
  next_ = 0;
  return Run();
}

std::string Workload::Verify() const {
  constexpr std::int64_t kSamples = 64;
  const std::int64_t all = case_.batch * case_.model.heads * case_.query_length;
  const std::int64_t count = std::min(all, kSamples);
  std::vector<RowIndex> rows;
  for (std::int64_t sample = 0; sample < count; ++sample) {
    const std::int64_t row = count == 1 ? 0 : sample * (all - 1) / (count - 1);
    rows.push_back({row / (case_.model.heads * case_.query_length),
                    row / case_.query_length % case_.model.heads, row % case_.query_length});
  }
  ReferenceResult reference;
  const Status status = ComputeReference(params_, &rows, &reference);
  if (!status.ok()) return status.message;
  const Comparison comparison = CompareWithReference(params_, reference);
  return comparison.passed ? "" : comparison.message;
}

double Workload::MeasureEigen() const {
  const bool plain = case_.timed == Timed::kExecute && case_.storage == Storage::kContiguous &&
                     case_.kv_dtype == case_.query_dtype && case_.short_kv_length == 0 &&
                     case_.model.rope_dim == 0 && case_.extra == Extra::kNone;
  if (!plain) return 0;
  std::vector<std::uint16_t> out(
      static_cast<std::size_t>(case_.batch * case_.model.heads * case_.query_length * case_.model.value_dim));
  EigenAttention call;
  call.query = static_cast<const std::uint16_t*>(params_.query.data);
  call.out = out.data();
  call.bf16 = case_.query_dtype == DataType::kBfloat16;
  call.batch = case_.batch;
  call.heads = case_.model.heads;
  call.kv_heads = case_.model.kv_heads;
  call.query_length = case_.query_length;
  call.kv_length = case_.kv_length;
  call.dim = case_.model.head_dim;
  call.value_dim = case_.model.value_dim;
  call.scale = static_cast<float>(params_.scores.scale);
  call.causal = case_.attends != Attends::kFull;
  call.band_before = case_.attends == Attends::kBand1024 ? 1024 : -1;
  std::vector<double> seconds;
  constexpr double kLong = 1.0;  // seconds: long enough to need no repetition
  for (std::size_t round = 0; round < 3 && (round == 0 || seconds[0] < kLong); ++round) {
    call.key = static_cast<const std::uint16_t*>(keys_[round % keys_.size()]);
    call.value = static_cast<const std::uint16_t*>(values_[round % values_.size()]);
    const auto start = std::chrono::steady_clock::now();
    RunEigenAttention(call, case_.threads);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace fia::bench
