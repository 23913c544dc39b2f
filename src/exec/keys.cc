#include "exec/keys.h"

#include <cstring>

#include "core/sizes.h"

namespace fia {
namespace {

// One of the three tensors of a storage, and where a tile's rows of it go.
struct KeyPart {
  RowTensor KvTensors::*tensor;
  std::int64_t KvSegment::*offset;
  std::int64_t dim;
  std::int64_t pointers;  // arrays of the worker
  std::int64_t gathered;
  std::int64_t gathered_bytes;  // of one row
};

template <class T>
void GatherElements(const std::byte* from, std::int64_t stride, std::int64_t count, std::byte* to) noexcept {
  for (std::int64_t index = 0; index < count; ++index) {
    const T value = ReadAs<T>(from + index * stride);
    std::memcpy(to + index * std::int64_t{sizeof(T)}, &value, sizeof value);
  }
}

// `count` elements of a chunk, made adjacent.
void GatherChunk(const RowTensor& rows, const std::byte* from, std::int64_t count, std::byte* to) noexcept {
  const std::int64_t bits = rows.bits();
  if (rows.dtype == DataType::kInt4 || rows.dim_stride * 8 == bits) {
    std::memcpy(to, from, static_cast<std::size_t>(CeilDiv(count * bits, 8)));
  } else if (bits == 8) {
    GatherElements<std::uint8_t>(from, rows.dim_stride, count, to);
  } else if (bits == 16) {
    GatherElements<std::uint16_t>(from, rows.dim_stride, count, to);
  } else {
    GatherElements<std::uint32_t>(from, rows.dim_stride, count, to);
  }
}

// Rows of 32 adjacent bytes: the chunks of a FRACTAL_NZ cache, worth a copy of constant size.
constexpr std::int64_t kNzChunkBytes = 32;

// One chunk of each key. Fetches the next chunk meanwhile: it begins anew for the processor's own
// prefetching.
void CopyNzChunks(const std::byte* from, const RowTensor& rows, std::int64_t keys, std::byte* to,
                  std::int64_t to_stride) noexcept {
  const std::int64_t stride = rows.row_stride, next = rows.chunk_stride;
  for (std::int64_t key = 0; key < keys; ++key) {
    __builtin_prefetch(from + key * stride + next, 0, 2);
    std::memcpy(to + key * to_stride, from + key * stride, kNzChunkBytes);
  }
}

// Rows gathered at a time: the copies stay in the first-level cache until they are whole.
constexpr std::int64_t kGatherKeys = 128;

// `keys` rows from `from` on, each made adjacent at `to`. Chunk by chunk: the chunks of neighbouring keys lie
// side by side.
void GatherRows(const RowTensor& rows, std::int64_t dim, const std::byte* from, std::int64_t keys,
                std::byte* to, std::int64_t to_stride) noexcept {
  const std::int64_t bits = rows.bits();
  const bool whole = rows.dtype == DataType::kInt4 || rows.dim_stride * 8 == bits;
  for (std::int64_t d = 0; d < dim; d += rows.chunk) {
    const std::int64_t count = std::min(rows.chunk, dim - d);
    std::byte* chunk = to + d * bits / 8;
    if (whole && count * bits == kNzChunkBytes * 8) {
      CopyNzChunks(from, rows, keys, chunk, to_stride);
    } else {
      for (std::int64_t key = 0; key < keys; ++key) {
        GatherChunk(rows, from + key * rows.row_stride, count, chunk + key * to_stride);
      }
    }
    from += rows.chunk_stride;
  }
}

// Positions [begin, end) of one segment; `first` is the tile's first key.
void PointAtSegment(const ItemRun& run, const KeyPart& part, const KvSegment& segment, std::int64_t first,
                    std::int64_t begin, std::int64_t end) noexcept {
  const RowTensor& rows = run.problem().storage[static_cast<std::size_t>(segment.tensors)].*(part.tensor);
  const std::byte* base =
      run.context->Input(rows.slot, segment.*(part.offset) + run.item.kv_head * rows.head_stride);
  const bool adjacent = rows.contiguous(part.dim);
  auto* pointers = run.Array<const void*>(part.pointers);
  VisitRuns(run, segment, begin, end, [&](const KeyRun& keys) {
    const std::byte* row = base + keys.block * rows.block_stride + keys.row * rows.row_stride;
    const void** to = pointers + (keys.first - first);
    if (adjacent) {
      for (std::int64_t key = 0; key < keys.count; ++key) to[key] = row + key * rows.row_stride;
      return;
    }
    auto* copy = run.Array<std::byte>(part.gathered) + (keys.first - first) * part.gathered_bytes;
    for (std::int64_t key = 0; key < keys.count; key += kGatherKeys) {
      GatherRows(rows, part.dim, row + key * rows.row_stride, std::min(kGatherKeys, keys.count - key),
                 copy + key * part.gathered_bytes, part.gathered_bytes);
    }
    for (std::int64_t key = 0; key < keys.count; ++key) to[key] = copy + key * part.gathered_bytes;
  });
}

const void* const* PointAtPart(const ItemRun& run, const KeyPart& part, std::int64_t first,
                               std::int64_t count) noexcept {
  for (std::int32_t index = 0; index < run.sequence->segment_count; ++index) {
    const KvSegment& segment = run.sequence->segments[index];
    const std::int64_t begin = std::max(first, segment.begin);
    const std::int64_t end = std::min(first + count, segment.end);
    if (begin < end) PointAtSegment(run, part, segment, first, begin, end);
  }
  return run.Array<const void*>(part.pointers);
}

KeyPart PartOfKeys(const ItemRun& run, std::int64_t pointers) noexcept {
  const WorkerLayout& layout = run.layout();
  return {&KvTensors::key, &KvSegment::key_offset, run.problem().head_dim,
          pointers,        layout.gathered_keys,   layout.gathered_key_bytes};
}

}  // namespace

void PointAtKeys(const ItemRun& run, std::int64_t first, TileArgs* args) noexcept {
  const Problem& problem = run.problem();
  const WorkerLayout& layout = run.layout();
  if (args->next_key_rows != nullptr) {
    args->key_rows = args->next_key_rows;
  } else {
    args->key_rows = PointAtPart(run, PartOfKeys(run, layout.key_rows[0]), first, args->keys);
  }
  args->value_rows = PointAtPart(run,
                                 {&KvTensors::value, &KvSegment::value_offset, problem.value_dim,
                                  layout.value_rows, layout.gathered_values, layout.gathered_value_bytes},
                                 first, args->keys);
  if (problem.rope_dim == 0) return;
  args->rope_rows = PointAtPart(run,
                                {&KvTensors::rope, &KvSegment::rope_offset, problem.rope_dim,
                                 layout.krope_rows, layout.gathered_ropes, layout.gathered_rope_bytes},
                                first, args->keys);
}

void PointAhead(const ItemRun& run, std::int64_t first, std::int64_t count, TileArgs* args) noexcept {
  const Problem& problem = run.problem();
  for (std::int32_t index = 0; index < run.sequence->segment_count; ++index) {
    const auto tensors = static_cast<std::size_t>(run.sequence->segments[index].tensors);
    if (!problem.storage[tensors].key.contiguous(problem.head_dim)) return;
  }
  const WorkerLayout& layout = run.layout();
  const bool other = args->key_rows == run.Array<const void*>(layout.key_rows[0]);
  args->next_key_rows = PointAtPart(run, PartOfKeys(run, layout.key_rows[other ? 1 : 0]), first, count);
  args->next_keys = count;
}

}  // namespace fia
