// Keys and values of a call in every storage: one tensor, a list, paged caches, and the shared prefix.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "support/call_parts.h"
#include "support/rng.h"
#include "support/tensor.h"

namespace fia::testing {
namespace {

// key, value and rotary key differ in these only.
struct CachePart {
  Part part;
  std::int64_t dim;
  DataType dtype;  // of elements
  std::int64_t packing;
};

std::vector<CachePart> CacheParts(const CallSpec& spec) {
  const std::int64_t packing = spec.quant.int4_in_int32 ? 8 : 1;
  const DataType rope = spec.quant.flow == QuantFlow::kInt8Mla ? DataType::kBfloat16 : spec.kv_dtype;
  std::vector<CachePart> result = {{Part::kKey, spec.head_dim, spec.kv_dtype, packing},
                                   {Part::kValue, spec.value_dim, spec.kv_dtype, packing}};
  if (spec.rope_dim > 0) result.push_back({Part::kKeyRope, spec.rope_dim, rope, 1});
  return result;
}

DataType StoredType(const CachePart& part) { return part.packing > 1 ? DataType::kInt32 : part.dtype; }

Rows MakeRows(const CallParts& parts, const CachePart& part, std::int64_t batch, std::int64_t tokens,
              ViewForm form, TensorView* view) {
  std::vector<std::int64_t> dims =
      DimsOf(parts.geometry.input, batch, tokens, parts.spec.num_kv_heads, part.dim);
  dims.back() /= part.packing;
  *view = parts.Make(dims, StoredType(part), form, 0);
  return RowsOf(*view, parts.geometry.input, part.dim, part.dtype, part.packing);
}

// Writes key j (prefix first) of sequence b to (batch, token) of `rows`.
void WriteKey(const CallParts& parts, const CachePart& part, const Rows& rows, std::int64_t b, std::int64_t j,
              std::int64_t batch, std::int64_t token) {
  for (std::int64_t n = 0; n < parts.spec.num_kv_heads; ++n) {
    Site site{part.part, parts.KeyId(b, j), parts.KvHeadId(n), j, 0};
    for (; site.dim < part.dim; ++site.dim) rows.Set(batch, token, n, site.dim, ContentAt(parts.spec, site));
  }
}

// Calls write(b, j) for every key that some row attends; j counts from the first prefix token.
template <typename Write>
void ForEachAttended(const CallParts& parts, Write write) {
  for (std::int64_t b = 0; b < parts.spec.batch(); ++b) {
    const std::int64_t keys = parts.geometry.sequences[static_cast<std::size_t>(b)].keys;
    for (std::int64_t j = 0; j < keys; ++j) {
      if (parts.geometry.AnyAttends(parts.spec, b, j)) write(b, j);
    }
  }
}

void BuildTensor(const CallParts& parts, const CachePart& part, std::vector<TensorView>* views) {
  const CallGeometry& geometry = parts.geometry;
  const std::int64_t tokens = geometry.packed ? geometry.kv_tokens : geometry.kv_axis;
  views->resize(1);
  const Rows rows = MakeRows(parts, part, parts.spec.batch(), tokens, parts.spec.kv_view, &views->front());
  ForEachAttended(parts, [&](std::int64_t b, std::int64_t j) {
    if (j < geometry.prefix) return;
    const SequenceGeometry& sequence = geometry.sequences[static_cast<std::size_t>(b)];
    WriteKey(parts, part, rows, b, j, b, sequence.kv_base + sequence.kv_start + j - geometry.prefix);
  });
}

void BuildList(const CallParts& parts, const CachePart& part, std::vector<TensorView>* views) {
  views->resize(static_cast<std::size_t>(parts.spec.batch()));
  std::vector<Rows> members;
  for (std::size_t b = 0; b < views->size(); ++b) {
    const std::int64_t tokens = parts.spec.kv_lengths[b] + parts.spec.kv_slack;
    members.push_back(MakeRows(parts, part, 1, tokens, parts.spec.kv_view, &(*views)[b]));
  }
  ForEachAttended(parts, [&](std::int64_t b, std::int64_t j) {
    WriteKey(parts, part, members[static_cast<std::size_t>(b)], b, j, 0, j);
  });
}

Rows MakeBlocks(const CallParts& parts, const CachePart& part, TensorView* view) {
  const CallSpec& spec = parts.spec;
  const std::int64_t size = spec.paged.block_size;
  if (spec.storage != KvStorage::kPagedNz) {
    const AxisOrder order = spec.storage == KvStorage::kPagedBnBsH ? AxisOrder::kBsh : AxisOrder::kBnsd;
    std::vector<std::int64_t> dims = DimsOf(order, parts.tensors->blocks, size, spec.num_kv_heads, part.dim);
    dims.back() /= part.packing;
    *view = parts.Make(dims, StoredType(part), spec.kv_view);
    return RowsOf(*view, order, part.dim, part.dtype, part.packing);
  }
  const std::int64_t chunk = 32 * 8 / ElementBits(part.dtype);
  *view = parts.Make({parts.tensors->blocks, spec.num_kv_heads, part.dim / chunk, size, chunk}, part.dtype,
                     spec.kv_view);
  if (spec.seed % 2 == 1) view->format = Format::kFractalNz;
  Rows rows;
  rows.data = static_cast<std::uint8_t*>(view->data);
  rows.dtype = part.dtype;
  rows.batch = view->strides[0];
  rows.head = view->strides[1];
  rows.chunk = chunk;
  rows.chunk_stride = view->strides[2];
  rows.token = view->strides[3];
  rows.dim = view->strides[4];
  return rows;
}

// Hands out the cache's blocks in random order; blocks of shared tokens once.
void AssignBlocks(const CallParts& parts) {
  const CallSpec& spec = parts.spec;
  const std::int64_t size = spec.paged.block_size;
  const std::int64_t shared = spec.paged.shared_tokens / size;
  std::vector<std::vector<std::int64_t>>& used = parts.tensors->used;
  std::int64_t next = shared;
  for (const std::int64_t length : spec.kv_lengths) {
    std::vector<std::int64_t>& blocks = used.emplace_back();
    for (std::int64_t k = 0; k * size < length; ++k) {
      const bool full = (k + 1) * size <= length;
      blocks.push_back(k < shared && full ? k : next++);
    }
  }
  parts.tensors->blocks = std::max<std::int64_t>(next + spec.paged.extra_blocks, 1);
  std::vector<std::int64_t> shuffled(static_cast<std::size_t>(parts.tensors->blocks));
  std::iota(shuffled.begin(), shuffled.end(), 0);
  Rng rng(spec.seed);
  for (std::size_t last = shuffled.size(); last-- > 1;)
    std::swap(shuffled[last],
              shuffled[static_cast<std::size_t>(rng.Between(0, static_cast<std::int64_t>(last)))]);
  for (std::vector<std::int64_t>& blocks : used) {
    for (std::int64_t& block : blocks) block = shuffled[static_cast<std::size_t>(block)];
  }
}

TensorView BuildTable(const CallParts& parts) {
  constexpr std::int32_t kLow = std::numeric_limits<std::int32_t>::min();
  const std::array<std::int64_t, 5> garbage = {-1, 1 << 30, parts.tensors->blocks, kLow, 0};
  const CallSpec& spec = parts.spec;
  OwnedTensor table = MakeTensor({spec.batch(), parts.geometry.table_width}, DataType::kInt32,
                                 spec.paged.table_form, spec.guard, parts.fill());
  for (std::int64_t b = 0; b < spec.batch(); ++b) {
    const std::vector<std::int64_t>& blocks = parts.tensors->used[static_cast<std::size_t>(b)];
    const bool read = spec.query_lengths[static_cast<std::size_t>(b)] > 0;
    for (std::int64_t k = 0; k < parts.geometry.table_width; ++k) {
      const std::size_t place = static_cast<std::size_t>(k);
      const std::int64_t id =
          read && place < blocks.size() ? blocks[place] : garbage[(place + static_cast<std::size_t>(b)) % 5];
      table.Set({b, k}, static_cast<double>(id));
    }
  }
  return parts.tensors->Keep(std::move(table));
}

void BuildBlocks(const CallParts& parts, const CachePart& part, std::vector<TensorView>* views) {
  views->resize(1);
  const Rows rows = MakeBlocks(parts, part, &views->front());
  const std::int64_t size = parts.spec.paged.block_size;
  ForEachAttended(parts, [&](std::int64_t b, std::int64_t j) {
    const std::int64_t block =
        parts.tensors->used[static_cast<std::size_t>(b)][static_cast<std::size_t>(j / size)];
    WriteKey(parts, part, rows, b, j, block, j % size);
  });
}

void BuildPrefix(const CallParts& parts) {
  const CallSpec& spec = parts.spec;
  if (spec.prefix.length + spec.prefix.axis_slack == 0) return;
  SharedPrefix& prefix = parts.params->prefix.emplace();
  if (spec.prefix.give_length) prefix.length = {spec.prefix.length};
  TensorView* const views[2] = {&prefix.key, &prefix.value};
  const std::vector<CachePart> kinds = CacheParts(spec);
  const ViewForm form = spec.kv_view == ViewForm::kBroadcast ? ViewForm::kDense : spec.kv_view;
  for (std::size_t which = 0; which < 2; ++which) {
    const CachePart& part = kinds[which];
    const Rows rows =
        MakeRows(parts, part, 1, spec.prefix.length + spec.prefix.axis_slack, form, views[which]);
    ForEachAttended(parts, [&](std::int64_t b, std::int64_t j) {
      if (j < spec.prefix.length) WriteKey(parts, part, rows, b, j, 0, j);
    });
  }
}

}  // namespace

void BuildCache(const CallParts& parts) {
  const CallSpec& spec = parts.spec;
  if (spec.is_paged()) {
    AssignBlocks(parts);
    PagedCache& paged = parts.params->paged.emplace();
    paged.block_size = spec.paged.block_size;
    paged.block_table = BuildTable(parts);
  }
  for (const CachePart& part : CacheParts(spec)) {
    std::vector<TensorView> views;
    if (spec.is_paged()) {
      BuildBlocks(parts, part, &views);
    } else if (spec.storage == KvStorage::kList) {
      BuildList(parts, part, &views);
    } else {
      BuildTensor(parts, part, &views);
    }
    if (part.part == Part::kKey) parts.params->key = views;
    if (part.part == Part::kValue) parts.params->value = views;
    if (part.part == Part::kKeyRope) parts.params->rope->key = views.front();
  }
  if (spec.value_is_key) parts.params->value = parts.params->key;
  BuildPrefix(parts);
}

}  // namespace fia::testing
