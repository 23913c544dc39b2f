#include "plan/workspace.h"

#include <algorithm>

#include "core/sizes.h"
#include "plan/placer.h"

namespace fia {
namespace {

constexpr std::int64_t kAlignment = 64;

// The largest of what the bodies in use need.
struct Capacity {
  std::int64_t rows = 0;
  std::int64_t keys = 0;
  std::int64_t query_bytes = 0;
  std::int64_t scratch_bytes = 0;
  std::int64_t state_bytes = 0;  // of the whole merge stack
};

Capacity CapacityOf(const Plan& plan) {
  Capacity capacity;
  for (const Body body : kBodies) {
    const Tiling& tiling = plan.tilings[static_cast<int>(body)];
    if (tiling.shape.rows == 0) continue;
    capacity.rows = std::max(capacity.rows, tiling.shape.rows);
    capacity.keys = std::max(capacity.keys, tiling.shape.keys);
    capacity.query_bytes = std::max(capacity.query_bytes, plan.kernels->query_bytes(body, tiling.shape));
    capacity.scratch_bytes =
        std::max(capacity.scratch_bytes, plan.kernels->scratch_bytes(body, tiling.shape));
    Placer states;
    states.Place(tiling.depth, tiling.state.bytes);
    capacity.state_bytes = std::max(capacity.state_bytes, states.end());
  }
  return capacity;
}

// Bytes of one gathered row of `tensor` in any storage; 0 when all rows are adjacent in memory.
std::int64_t GatheredBytes(const Problem& problem, RowTensor KvTensors::*tensor, std::int64_t dim) noexcept {
  for (const KvTensors& tensors : problem.storage) {
    const RowTensor& rows = tensors.*tensor;
    if (rows.present() && !rows.contiguous(dim)) return RoundUp(CeilDiv(dim * rows.bits(), 8), kAlignment);
  }
  return 0;
}

void PlaceRows(const Problem& problem, std::int64_t rows, Placer* placer, WorkerLayout* layout) {
  constexpr std::int64_t kPointer = sizeof(void*);
  const bool quantised = problem.output_quantisation.present();
  const bool rope = problem.rope_dim > 0;
  const auto place = [placer, rows](bool used, std::int64_t size) {
    return placer->Place(used ? rows : 0, size);
  };
  layout->query_rows = place(true, kPointer);
  layout->rope_rows = place(rope, kPointer);
  layout->mask_rows = place(problem.mask.present(), kPointer);
  layout->bias_rows = place(problem.bias.present(), kPointer);
  layout->quant_scales = place(quantised, kPointer);
  layout->quant_offsets = place(quantised, kPointer);
  layout->final_max = place(problem.flow == Flow::kInt8, sizeof(float));
  layout->row_offset = place(problem.key_offset.present(), sizeof(float));
  layout->row_scale = place(problem.query_scale.present(), sizeof(float));
  layout->attend_begin = place(true, sizeof(std::int32_t));
  layout->attend_end = place(true, sizeof(std::int32_t));
  layout->factor = place(true, sizeof(double));
  layout->addend = place(problem.value_offset.per_token, sizeof(float));
}

void PlaceKeys(const Problem& problem, std::int64_t keys, Placer* placer, WorkerLayout* layout) {
  constexpr std::int64_t kPointer = sizeof(void*);
  const auto place = [placer, keys](bool used, std::int64_t size) {
    return placer->Place(used ? keys : 0, size);
  };
  for (std::int64_t& rows : layout->key_rows) rows = place(true, kPointer);
  layout->value_rows = place(true, kPointer);
  layout->krope_rows = place(problem.rope_dim > 0, kPointer);
  layout->key_scale = place(problem.key_scale.per_token, sizeof(float));
  layout->key_offset = place(problem.key_offset.per_token, sizeof(float));
  layout->value_scale = place(problem.value_scale.per_token, sizeof(float));
  layout->value_offset = place(problem.value_offset.per_token, sizeof(float));
  layout->gathered_key_bytes = GatheredBytes(problem, &KvTensors::key, problem.head_dim);
  layout->gathered_value_bytes = GatheredBytes(problem, &KvTensors::value, problem.value_dim);
  layout->gathered_rope_bytes = GatheredBytes(problem, &KvTensors::rope, problem.rope_dim);
  layout->gathered_keys = place(true, layout->gathered_key_bytes);
  layout->gathered_values = place(true, layout->gathered_value_bytes);
  layout->gathered_ropes = place(true, layout->gathered_rope_bytes);
}

WorkerLayout LayOutWorker(const Plan& plan, std::int64_t* bytes) {
  const Capacity capacity = CapacityOf(plan);
  Placer placer;
  WorkerLayout layout;
  layout.query = placer.Place(capacity.query_bytes, 1);
  layout.scratch = placer.Place(capacity.scratch_bytes, 1);
  layout.states = placer.Place(capacity.state_bytes, 1);
  PlaceRows(plan.problem, capacity.rows, &placer, &layout);
  PlaceKeys(plan.problem, capacity.keys, &placer, &layout);
  *bytes = placer.end();
  return layout;
}

// Factors and offsets per channel, converted to float once for all items.
void PlaceChannels(const Problem& problem, Placer* placer, WorkspaceLayout* layout) {
  const auto place = [placer](bool used, std::int64_t heads, std::int64_t dim) {
    return placer->Place(used ? heads : 0, dim, sizeof(float));
  };
  const auto whole = [](const KvScale& scale) { return scale.present() && !scale.per_token; };
  const std::int64_t heads = problem.num_kv_heads;
  layout->key_scales = place(problem.key_scale.per_channel, heads, problem.head_dim);
  layout->key_offsets = place(whole(problem.key_offset), heads, problem.head_dim);
  layout->value_scales = place(whole(problem.value_scale), heads, problem.value_dim);
  layout->value_offsets = place(whole(problem.value_offset), heads, problem.value_dim);
  const OutputQuantisation& output = problem.output_quantisation;
  const std::int64_t output_heads = output.per_channel ? problem.num_heads : 1;
  layout->output_scales = place(output.present(), output_heads, problem.value_dim);
  layout->output_offsets = place(output.offset_slot != kNoSlot, output_heads, problem.value_dim);
}

}  // namespace

WorkspaceLayout LayOutWorkspace(const Plan& plan) {
  WorkspaceLayout layout;
  if (plan.item_count == 0) return layout;
  // The kernels count their bytes unchecked: rows that no memory holds do not reach them.
  constexpr std::int64_t kLongestRow = std::int64_t{1} << 40;
  if (plan.problem.head_dim > kLongestRow || plan.problem.value_dim > kLongestRow) throw std::bad_alloc();
  layout.worker = LayOutWorker(plan, &layout.worker_bytes);
  Placer placer;
  layout.arrivals = placer.Place(plan.merge_count, sizeof(std::int32_t));
  layout.partials = placer.Place(plan.partial_bytes, 1);
  PlaceChannels(plan.problem, &placer, &layout);
  layout.workers = placer.Place(plan.workers, layout.worker_bytes);
  layout.total = placer.end() + kAlignment - 1;
  return layout;
}

}  // namespace fia
