#include "exec/queries.h"

#include "exec/scalar.h"
#include "exec/scales.h"

namespace fia {
namespace {

// Pointers to the rows of `tensor` (query or its rotary part) at the item's positions and heads.
const void* const* PointAtRows(const ItemRun& run, const RowTensor& tensor, std::int64_t sequence_offset,
                               std::int64_t array) noexcept {
  if (!tensor.present()) return nullptr;
  auto* rows = run.Array<const void*>(array);
  const std::byte* base =
      run.context->Input(tensor.slot, sequence_offset + run.starts.query * tensor.row_stride);
  VisitRows(run, [&](std::int64_t row, std::int64_t query, std::int64_t head) {
    rows[row] = base + query * tensor.row_stride + head * tensor.head_stride;
  });
  return rows;
}

void ReadRowScales(const ItemRun& run) noexcept {
  const RowTensor& scale = run.problem().query_scale;
  if (!scale.present()) return;
  auto* values = run.Array<float>(run.layout().row_scale);
  const std::byte* base =
      run.context->Input(scale.slot, run.sequence->query_scale_offset + run.starts.query * scale.row_stride);
  VisitRows(run, [&](std::int64_t row, std::int64_t query, std::int64_t head) {
    values[row] = ReadFloat(base + query * scale.row_stride + head * scale.head_stride, scale.dtype);
  });
}

}  // namespace

void LoadQueries(const ItemRun& run) noexcept {
  const Problem& problem = run.problem();
  const WorkspaceLayout& workspace = run.plan().workspace;
  const std::int64_t channels = run.item.kv_head * problem.head_dim;
  QueryArgs args;
  args.body = run.item.work->body;
  args.shape = run.tiling().shape;
  args.rows = run.item.rows;
  args.query_rows = PointAtRows(run, problem.query, run.sequence->query_offset, run.layout().query_rows);
  args.rope_rows =
      PointAtRows(run, problem.query_rope, run.sequence->query_rope_offset, run.layout().rope_rows);
  args.query_type = problem.query.dtype;
  args.rope_type = problem.query_rope.dtype;
  args.query_dim_stride = problem.query.dim_stride;
  args.rope_dim_stride = problem.query_rope.dim_stride;
  args.key_factor = KeyFactor(run);
  if (problem.key_scale.per_channel) {
    args.channel_scale = run.context->Shared<float>(workspace.key_scales) + channels;
  }
  if (problem.key_offset.present()) {
    args.row_offset = run.Array<float>(run.layout().row_offset);
    if (!problem.key_offset.per_token) {
      args.channel_offset = run.context->Shared<float>(workspace.key_offsets) + channels;
    }
  }
  args.packed = run.Array<void>(run.layout().query);
  run.plan().kernels->load_query(args);
  ReadRowScales(run);
}

}  // namespace fia
