#include "exec/scales.h"

#include <cmath>
#include <limits>

#include "exec/keys.h"
#include "exec/scalar.h"

namespace fia {
namespace {

// [heads, dim] elements of a scale that does not vary by token.
void ConvertChannels(const RunContext& context, const KvScale& scale, std::int64_t dim,
                     std::int64_t array) noexcept {
  if (!scale.present() || scale.per_token) return;
  auto* to = context.Shared<float>(array);
  const std::byte* base = context.Input(scale.slot, scale.offset);
  for (std::int64_t head = 0; head < context.plan->problem.num_kv_heads; ++head) {
    const std::byte* from = base + head * scale.head_stride;
    for (std::int64_t d = 0; d < dim; ++d) *to++ = ReadFloat(from + d * scale.dim_stride, scale.dtype);
  }
}

// All elements of quantScale2 or quantOffset2 in row-major order; one that serves all is repeated for a head.
void ConvertOutput(const RunContext& context, std::int32_t slot, const std::int64_t* strides,
                   std::int64_t array) noexcept {
  if (slot == kNoSlot) return;
  const OutputQuantisation& output = context.plan->problem.output_quantisation;
  auto* to = context.Shared<float>(array);
  const std::byte* from = context.Input(slot, 0);
  if (!output.per_channel) {
    std::fill_n(to, context.plan->problem.value_dim, ReadFloat(from, output.dtype));
    return;
  }
  std::int64_t index[kMaxRank] = {};
  for (int axis = output.rank - 1; axis >= 0;) {
    *to++ = ReadFloat(from, output.dtype);
    for (axis = output.rank - 1; axis >= 0; --axis) {
      from += strides[axis];
      if (++index[axis] < output.dims[axis]) break;
      from -= index[axis] * strides[axis];
      index[axis] = 0;
    }
  }
}

// Factor of a head, 1 when there is none or it varies within the head.
double HeadFactor(const ItemRun& run, const KvScale& scale) noexcept {
  if (!scale.present() || scale.per_token || scale.per_channel) return 1;
  return ReadFloat(run.context->Input(scale.slot, scale.offset + run.item.kv_head * scale.head_stride),
                   scale.dtype);
}

const float* ReadPagedTokens(const ItemRun& run, const KvScale& scale, const std::byte* base,
                             std::int64_t first, std::int64_t count, float* values) noexcept {
  for (std::int32_t index = 0; index < run.sequence->segment_count; ++index) {
    const KvSegment& segment = run.sequence->segments[index];
    VisitRuns(run, segment, std::max(first, segment.begin), std::min(first + count, segment.end),
              [&](const KeyRun& keys) {
                const std::byte* from = base + keys.block * scale.block_stride;
                for (std::int64_t key = 0; key < keys.count; ++key) {
                  values[keys.first - first + key] =
                      ReadFloat(from + (keys.row + key) * scale.token_stride, scale.dtype);
                }
              });
  }
  return values;
}

const float* ReadTokens(const ItemRun& run, const KvScale& scale, std::int64_t first, std::int64_t count,
                        std::int64_t array) noexcept {
  if (!scale.per_token) return nullptr;
  auto* values = run.Array<float>(array);
  const std::byte* base =
      run.context->Input(scale.slot, scale.offset + run.item.work->sequence * scale.batch_stride +
                                         run.item.kv_head * scale.head_stride);
  if (scale.paged) return ReadPagedTokens(run, scale, base, first, count, values);
  for (std::int64_t key = 0; key < count; ++key) {
    values[key] = ReadFloat(base + (run.starts.key + first + key) * scale.token_stride, scale.dtype);
  }
  return values;
}

// As ReadTokens. Factors of values multiply weights of 0 at keys that a row does not attend: such products
// must not become NaN.
const float* ReadFiniteTokens(const ItemRun& run, const KvScale& scale, std::int64_t first,
                              std::int64_t count, std::int64_t array) noexcept {
  const float* read = ReadTokens(run, scale, first, count, array);
  if (read == nullptr) return nullptr;
  auto* values = run.Array<float>(array);
  for (std::int64_t key = 0; key < count; ++key) {
    if (!std::isfinite(values[key])) values[key] = 0;
  }
  return read;
}

}  // namespace

void PrepareChannels(const RunContext& context) noexcept {
  const Problem& problem = context.plan->problem;
  const WorkspaceLayout& workspace = context.plan->workspace;
  if (problem.key_scale.per_channel) {
    ConvertChannels(context, problem.key_scale, problem.head_dim, workspace.key_scales);
  }
  ConvertChannels(context, problem.key_offset, problem.head_dim, workspace.key_offsets);
  ConvertChannels(context, problem.value_scale, problem.value_dim, workspace.value_scales);
  ConvertChannels(context, problem.value_offset, problem.value_dim, workspace.value_offsets);
  const OutputQuantisation& output = problem.output_quantisation;
  ConvertOutput(context, output.scale_slot, output.scale_strides, workspace.output_scales);
  ConvertOutput(context, output.offset_slot, output.offset_strides, workspace.output_offsets);
}

float KeyFactor(const ItemRun& run) noexcept {
  const Problem& problem = run.problem();
  if (problem.flow != Flow::kAntiquant) return 1;
  const double factor = HeadFactor(run, problem.key_scale);
  const bool overflows = std::fabs(double{problem.scale} * factor) > std::numeric_limits<float>::max();
  return overflows ? static_cast<float>(factor) : 1;
}

double ScoreScale(const ItemRun& run) noexcept {
  const Problem& problem = run.problem();
  const double scale = double{problem.scale} * run.context->score_factor;
  return KeyFactor(run) != 1 ? scale : scale * HeadFactor(run, problem.key_scale);
}

void ReadTokenScales(const ItemRun& run, std::int64_t first, TileArgs* args) noexcept {
  const Problem& problem = run.problem();
  const WorkerLayout& layout = run.layout();
  const std::int64_t keys = args->keys;
  args->key_scale = ReadTokens(run, problem.key_scale, first, keys, layout.key_scale);
  args->key_offset = ReadTokens(run, problem.key_offset, first, keys, layout.key_offset);
  args->value_scale = ReadFiniteTokens(run, problem.value_scale, first, keys, layout.value_scale);
  args->value_offset = ReadFiniteTokens(run, problem.value_offset, first, keys, layout.value_offset);
}

float OutputOffset(const RunContext& context, std::int64_t head, std::int64_t dim) noexcept {
  const Problem& problem = context.plan->problem;
  const OutputQuantisation& output = problem.output_quantisation;
  std::int64_t element = output.per_channel ? head * problem.value_dim + dim : 0;
  std::int64_t offset = 0;
  for (int axis = output.rank - 1; axis >= 0; --axis) {
    offset += element % output.dims[axis] * output.offset_strides[axis];
    element /= output.dims[axis];
  }
  return ReadFloat(context.Input(output.offset_slot, offset), output.dtype);
}

}  // namespace fia
