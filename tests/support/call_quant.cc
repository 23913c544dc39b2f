// Scales and offsets of quantised calls.
#include <cstring>
#include <vector>

#include "support/call_parts.h"
#include "support/tensor.h"

namespace fia::testing {
namespace {

using Dims = std::vector<std::int64_t>;

// What a cache scale has one element for.
enum class Per { kTensor, kChannel, kToken, kHead, kTokenHead, kBlockToken, kBlockTokenHead };

Per PerOf(const QuantSpec& quant, std::int64_t mode) {
  constexpr Per kByMode[] = {Per::kTensor,    Per::kToken,      Per::kHead,
                             Per::kTokenHead, Per::kBlockToken, Per::kBlockTokenHead};
  return mode == 0 && quant.per_channel ? Per::kChannel : kByMode[mode];
}

// The shapes of a separate scale, in the order in which the interface lists them.
std::vector<Dims> SeparateShapes(const CallParts& parts, Per per, std::int64_t dim) {
  const std::int64_t heads = parts.spec.num_kv_heads;
  const std::int64_t batch = parts.spec.batch();
  const std::int64_t tokens = parts.geometry.mask_columns + parts.spec.quant.scale_slack;
  const std::int64_t blocks = parts.tensors->blocks;
  const std::int64_t size = parts.spec.paged.block_size;
  switch (per) {
    case Per::kTensor:
      return {{1}};
    case Per::kChannel:
      return {{1, heads, 1, dim}, {1, 1, heads, dim}, {1, heads, dim}, {1, heads * dim},
              {heads, 1, dim},    {heads, dim},       {heads * dim}};
    case Per::kToken:
      return {{1, batch, tokens}, {batch, tokens}};
    case Per::kHead:
      return {{heads}};
    case Per::kTokenHead:
      return {{1, batch, heads, tokens}, {batch, heads, tokens}};
    case Per::kBlockToken:
      return {{blocks, size}};
    default:
      return {{blocks, heads, size}};
  }
}

// The same with a leading axis of 2 for key and value.
std::vector<Dims> CombinedShapes(const CallParts& parts, Per per, std::int64_t dim) {
  const std::int64_t heads = parts.spec.num_kv_heads;
  const std::int64_t tokens = parts.geometry.mask_columns + parts.spec.quant.scale_slack;
  switch (per) {
    case Per::kTensor:
      return {{2}};
    case Per::kChannel:
      return {{2, heads, 1, dim}, {2, 1, heads, dim}, {2, heads, dim}, {2, heads * dim}};
    default:
      return {{2, parts.spec.batch(), tokens}};
  }
}

// Sets the element with that row-major number.
void SetNumber(OwnedTensor* tensor, std::int64_t number, double value) {
  Dims index(static_cast<std::size_t>(tensor->view.rank));
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = number % tensor->view.dims[axis];
    number /= tensor->view.dims[axis];
  }
  tensor->Set(index, value);
}

// Writes the elements of one scale or offset, the first of which has number `first`.
class ScaleWriter {
 public:
  ScaleWriter(const CallParts& parts, Part part, Per per, std::int64_t first, OwnedTensor* tensor)
      : parts_(parts), part_(part), per_(per), first_(first), tensor_(tensor) {}

  void Write(std::int64_t dim) {
    const CallSpec& spec = parts_.spec;
    for (std::int64_t n = 0; n < spec.num_kv_heads; ++n) {
      for (std::int64_t d = 0; d < dim; ++d) {
        if (per_ == Per::kChannel) Set(n * dim + d, 0, n, 0, d);
      }
      if (per_ == Per::kHead) Set(n, 0, n, 0, 0);
    }
    if (per_ == Per::kTensor) Set(0, 0, 0, 0, 0);
    if (per_ == Per::kTensor || per_ == Per::kChannel || per_ == Per::kHead) return;
    for (std::int64_t b = 0; b < spec.batch(); ++b) {
      for (std::int64_t j = 0; j < parts_.geometry.sequences[static_cast<std::size_t>(b)].keys; ++j) {
        if (parts_.geometry.AnyAttends(spec, b, j)) WriteToken(b, j);
      }
    }
  }

 private:
  void Set(std::int64_t number, std::int64_t id, std::int64_t n, std::int64_t position, std::int64_t d) {
    const std::int64_t head =
        per_ == Per::kToken || per_ == Per::kBlockToken || per_ == Per::kTensor ? 0 : parts_.KvHeadId(n);
    SetNumber(tensor_, first_ + number, ContentAt(parts_.spec, {part_, id, head, position, d}));
  }

  void WriteToken(std::int64_t b, std::int64_t j) {
    const CallSpec& spec = parts_.spec;
    const std::int64_t tokens = parts_.geometry.mask_columns + spec.quant.scale_slack;
    const std::int64_t size = spec.paged.block_size;
    const std::int64_t t = parts_.geometry.sequences[static_cast<std::size_t>(b)].kv_start + j;
    const bool paged = per_ == Per::kBlockToken || per_ == Per::kBlockTokenHead;
    const bool per_head = per_ == Per::kTokenHead || per_ == Per::kBlockTokenHead;
    const std::int64_t block =
        paged ? parts_.tensors->used[static_cast<std::size_t>(b)][static_cast<std::size_t>(j / size)] : 0;
    const std::int64_t heads = per_head ? spec.num_kv_heads : 1;
    for (std::int64_t n = 0; n < heads; ++n) {
      const std::int64_t row = (paged ? block : b) * heads + n;
      Set(paged ? row * size + j % size : row * tokens + t, parts_.KeyId(b, j), n, j, 0);
    }
  }

  const CallParts& parts_;
  Part part_;
  Per per_;
  std::int64_t first_;
  OwnedTensor* tensor_;
};

DataType ScaleType(const CallSpec& spec, Per per) {
  const bool as_query = per == Per::kTensor || per == Per::kChannel || per == Per::kHead;
  return as_query && spec.quant.flow != QuantFlow::kInt8Mla ? spec.dtype : DataType::kFloat32;
}

TensorView BuildSeparate(const CallParts& parts, Part part, std::int64_t mode, std::int64_t dim) {
  const CallSpec& spec = parts.spec;
  const Per per = PerOf(spec.quant, mode);
  const std::vector<Dims> shapes = SeparateShapes(parts, per, dim);
  const Dims& dims = shapes[static_cast<std::size_t>(spec.quant.shape_form) % shapes.size()];
  OwnedTensor tensor = MakeTensor(dims, ScaleType(spec, per), ViewForm::kDense, spec.guard, parts.fill());
  ScaleWriter(parts, part, per, 0, &tensor).Write(dim);
  return parts.tensors->Keep(std::move(tensor));
}

TensorView BuildCombined(const CallParts& parts, Part key_part, Part value_part) {
  const CallSpec& spec = parts.spec;
  const Per per = PerOf(spec.quant, spec.quant.key_mode);
  const std::vector<Dims> shapes = CombinedShapes(parts, per, spec.head_dim);
  const Dims& dims = shapes[static_cast<std::size_t>(spec.quant.shape_form) % shapes.size()];
  OwnedTensor tensor = MakeTensor(dims, ScaleType(spec, per), ViewForm::kDense, spec.guard, parts.fill());
  std::int64_t half = 1;
  for (std::size_t axis = 1; axis < dims.size(); ++axis) half *= dims[axis];
  ScaleWriter(parts, key_part, per, 0, &tensor).Write(spec.head_dim);
  ScaleWriter(parts, value_part, per, half, &tensor).Write(spec.head_dim);
  return parts.tensors->Keep(std::move(tensor));
}

void BuildAntiquant(const CallParts& parts, Quantisation* quantisation) {
  const CallSpec& spec = parts.spec;
  const QuantSpec& quant = spec.quant;
  KvAntiquant& kv = quantisation->kv_antiquant.emplace();
  if (quant.combined) {
    kv.mode = quant.key_mode;
    kv.scale = BuildCombined(parts, Part::kKeyScale, Part::kValueScale);
    if (quant.offsets) kv.offset = BuildCombined(parts, Part::kKeyOffset, Part::kValueOffset);
    return;
  }
  kv.key_mode = quant.key_mode;
  kv.value_mode = quant.value_mode;
  kv.key_scale = BuildSeparate(parts, Part::kKeyScale, quant.key_mode, spec.head_dim);
  kv.value_scale = BuildSeparate(parts, Part::kValueScale, quant.value_mode, spec.value_dim);
  if (!quant.offsets) return;
  kv.key_offset = BuildSeparate(parts, Part::kKeyOffset, quant.key_mode, spec.head_dim);
  kv.value_offset = BuildSeparate(parts, Part::kValueOffset, quant.value_mode, spec.value_dim);
}

// One float32, or a uint64 that holds it in its low half.
TensorView BuildDequantScale(const CallParts& parts, bool wide, float value) {
  const TensorView view = parts.Make({1}, wide ? DataType::kUint64 : DataType::kFloat32, ViewForm::kDense);
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint64_t garbage = 0xDEADBEEFull << 32;
  const std::uint64_t word = garbage | bits;
  if (wide) {
    std::memcpy(view.data, &word, sizeof word);
  } else {
    std::memcpy(view.data, &bits, sizeof bits);
  }
  return view;
}

void BuildInt8Flow(const CallParts& parts, Quantisation* quantisation) {
  const CallSpec& spec = parts.spec;
  Int8Flow& flow = quantisation->int8_flow.emplace();
  const double spread = ContentAt(spec, {Part::kQueryScale, 0, 0, 0, 0}) / (spec.query_magnitude / 128.0);
  const double levels = 60 + 200 * (spread - 0.5);
  const double deq1 = spread * spec.query_magnitude * spec.key_magnitude / (128.0 * 128.0);
  const double deq2 = spec.value_magnitude / (128.0 * levels);
  flow.deq_scale1 = BuildDequantScale(parts, spec.quant.uint64_deq1, static_cast<float>(deq1));
  flow.quant_scale1 = BuildDequantScale(parts, false, static_cast<float>(levels));
  flow.deq_scale2 = BuildDequantScale(parts, spec.quant.uint64_deq2, static_cast<float>(deq2));
}

void BuildInt8Mla(const CallParts& parts, Quantisation* quantisation) {
  const CallSpec& spec = parts.spec;
  const CallGeometry& geometry = parts.geometry;
  Int8Mla& mla = quantisation->int8_mla.emplace();
  mla.query_mode = 3;
  const std::int64_t tokens = geometry.packed ? geometry.query_tokens : geometry.query_axis;
  const AxisOrder order = geometry.packed ? AxisOrder::kTnd : AxisOrder::kBsnd;
  Dims dims = DimsOf(order, spec.batch(), tokens, spec.num_heads, 1);
  dims.pop_back();
  mla.query_scale = parts.Make(dims, DataType::kFloat32, ViewForm::kDense);
  const Rows rows =
      RowsOf(TensorView::Contiguous(mla.query_scale.data, DataType::kFloat32,
                                    {geometry.packed ? 1 : spec.batch(), tokens, spec.num_heads, 1}),
             AxisOrder::kBsnd, 1, DataType::kFloat32, 1);
  for (std::int64_t b = 0; b < spec.batch(); ++b) {
    const SequenceGeometry& sequence = geometry.sequences[static_cast<std::size_t>(b)];
    for (std::int64_t i = 0; i < sequence.rows; ++i) {
      for (std::int64_t n = 0; n < spec.num_heads; ++n)
        rows.Set(geometry.packed ? 0 : b, sequence.query_base + i, n, 0,
                 ContentAt(spec, {Part::kQueryScale, spec.id(b), parts.HeadId(n), i, 0}));
    }
  }
  KvAntiquant& kv = quantisation->kv_antiquant.emplace();
  kv.key_scale = BuildSeparate(parts, Part::kKeyScale, 0, spec.head_dim);
  kv.value_scale = BuildSeparate(parts, Part::kValueScale, 0, spec.value_dim);
}

TensorView BuildOutputScale(const CallParts& parts, Part part) {
  const CallSpec& spec = parts.spec;
  const std::int64_t heads = spec.num_heads;
  const std::int64_t dim = spec.value_dim;
  const bool channel = spec.quant.output == OutputQuant::kChannel;
  const std::vector<Dims> shapes =
      channel ? std::vector<Dims>{{heads, dim}, {heads * dim}, {1, heads, 1, dim}, {1, 1, heads * dim}}
              : std::vector<Dims>{{1}, {1, 1, 1}};
  const Dims& dims = shapes[static_cast<std::size_t>(spec.quant.output_shape_form) % shapes.size()];
  OwnedTensor tensor =
      MakeTensor(dims, spec.quant.output_scale_dtype, ViewForm::kDense, spec.guard, parts.fill());
  for (std::int64_t n = 0; n < (channel ? heads : 1); ++n) {
    for (std::int64_t d = 0; d < (channel ? dim : 1); ++d)
      SetNumber(&tensor, n * dim + d, ContentAt(spec, {part, 0, channel ? parts.HeadId(n) : 0, 0, d}));
  }
  return parts.tensors->Keep(std::move(tensor));
}

}  // namespace

void BuildQuantisation(const CallParts& parts) {
  const QuantSpec& quant = parts.spec.quant;
  if (quant.flow == QuantFlow::kNone && quant.output == OutputQuant::kNone) return;
  Quantisation& quantisation = parts.params->quantisation.emplace();
  if (quant.flow == QuantFlow::kAntiquant) BuildAntiquant(parts, &quantisation);
  if (quant.flow == QuantFlow::kInt8) BuildInt8Flow(parts, &quantisation);
  if (quant.flow == QuantFlow::kInt8Mla) BuildInt8Mla(parts, &quantisation);
  if (quant.output == OutputQuant::kNone) return;
  Int8Output& output = quantisation.int8_output.emplace();
  output.scale = BuildOutputScale(parts, Part::kOutputScale);
  if (quant.output_offset) output.offset = BuildOutputScale(parts, Part::kOutputOffset);
}

}  // namespace fia::testing
