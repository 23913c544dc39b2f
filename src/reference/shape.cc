#include "reference/shape.h"

#include <algorithm>

namespace fia::reference {
namespace {

struct NamedLayout {
  const char* name;
  AxisOrder input;
  AxisOrder output;
};

constexpr NamedLayout kNamedLayouts[] = {
    {"BSH", AxisOrder::kBsh, AxisOrder::kBsh},         {"BSND", AxisOrder::kBsnd, AxisOrder::kBsnd},
    {"BNSD", AxisOrder::kBnsd, AxisOrder::kBnsd},      {"BSH_BNSD", AxisOrder::kBsh, AxisOrder::kBnsd},
    {"BSND_BNSD", AxisOrder::kBsnd, AxisOrder::kBnsd}, {"BNSD_BSND", AxisOrder::kBnsd, AxisOrder::kBsnd},
    {"BSH_NBSD", AxisOrder::kBsh, AxisOrder::kNbsd},   {"BSND_NBSD", AxisOrder::kBsnd, AxisOrder::kNbsd},
    {"BNSD_NBSD", AxisOrder::kBnsd, AxisOrder::kNbsd}, {"TND", AxisOrder::kTnd, AxisOrder::kTnd},
    {"NTD", AxisOrder::kNtd, AxisOrder::kNtd},         {"NTD_TND", AxisOrder::kNtd, AxisOrder::kTnd},
    {"TND_NTD", AxisOrder::kTnd, AxisOrder::kNtd},
};

// Axis numbers; -1: no such axis. BSH: the head axis is the dim axis.
struct Axes {
  int rank, batch, token, head;
};

constexpr Axes kAxes[] = {
    {3, 0, 1, -1}, {4, 0, 1, 2}, {4, 0, 2, 1}, {4, 1, 2, 0}, {3, -1, 0, 1}, {3, -1, 1, 0},
};

const Axes& AxesOf(AxisOrder order) noexcept { return kAxes[static_cast<int>(order)]; }

// Elements of one head.
std::int64_t HeadDim(const TensorView& view, AxisOrder order, std::int64_t heads) noexcept {
  const std::int64_t last = view.dims[view.rank - 1];
  return order == AxisOrder::kBsh ? last / heads : last;
}

bool AllEmpty(const std::vector<TensorView>& list) noexcept {
  return std::none_of(list.begin(), list.end(), [](const TensorView& view) { return HasElements(view); });
}

bool HasPrefix(const AttentionParams& params) noexcept {
  return params.prefix && HasElements(params.prefix->key);
}

// Lengths of padded layouts and paged caches: none, one for all, or one for each.
std::int64_t PlainLength(const std::vector<std::int64_t>& lengths, std::size_t sequence,
                         std::int64_t axis) noexcept {
  if (lengths.empty()) return axis;
  return lengths.size() == 1 ? lengths[0] : lengths[sequence];
}

bool ReadQueryLengths(const AttentionParams& params, CallShape* shape) {
  const std::vector<std::int64_t> none;
  const std::vector<std::int64_t>& given = params.lengths ? params.lengths->query : none;
  const bool each = shape->packed || given.size() > 1;
  if (each && given.size() < shape->sequences.size()) return false;
  std::int64_t start = 0;
  for (std::size_t b = 0; b < shape->sequences.size(); ++b) {
    SequenceShape& sequence = shape->sequences[b];
    if (shape->packed) {
      sequence.query_start = start;
      sequence.query_length = given[b] - start;
      start = given[b];
      shape->query_axis = std::max(shape->query_axis, sequence.query_length);
    } else {
      sequence.query_length = shape->decode ? 1 : PlainLength(given, b, shape->query_axis);
    }
  }
  return true;
}

bool ReadKvLengths(const AttentionParams& params, CallShape* shape) {
  const std::vector<std::int64_t> none;
  const std::vector<std::int64_t>& given = params.lengths ? params.lengths->key_value : none;
  const std::size_t needed = shape->packed && !shape->paged ? shape->sequences.size() : shape->paged ? 1 : 0;
  if (given.size() < needed) return false;
  if (given.size() > 1 && given.size() < shape->sequences.size()) return false;
  std::int64_t start = 0;
  for (std::size_t b = 0; b < shape->sequences.size(); ++b) {
    SequenceShape& sequence = shape->sequences[b];
    if (shape->packed && !shape->paged) {
      sequence.kv_start = start;
      sequence.kv_length = given[b] - start;
      start = given[b];
      continue;
    }
    const TensorView& key = params.key[shape->list ? b : 0];
    const std::int64_t axis = shape->paged ? 0 : key.dims[AxesOf(shape->input).token];
    sequence.kv_length = PlainLength(given, b, axis);
  }
  return true;
}

void ReadPrefix(const AttentionParams& params, CallShape* shape) {
  if (!HasPrefix(params)) return;
  const std::int64_t axis = params.prefix->key.dims[AxesOf(shape->input).token];
  shape->prefix = params.prefix->length.empty() ? axis : params.prefix->length[0];
}

void ReadKind(const AttentionParams& params, CallShape* shape) {
  if (params.query.dtype != DataType::kInt8) return;
  const bool mla = params.quantisation && params.quantisation->int8_mla &&
                   params.quantisation->int8_mla->query_scale.present();
  shape->kind = mla ? QueryKind::kInt8Mla : QueryKind::kInt8;
}

// D, Dv, Dr, B and Q_S of a padded layout.
bool ReadAxes(const AttentionParams& params, CallShape* shape) {
  const Axes& in = AxesOf(shape->input);
  const Axes& out = AxesOf(shape->output);
  if (params.query.rank != in.rank || params.attention_out.rank != out.rank) return false;
  shape->heads = params.heads.num_heads;
  shape->kv_heads = params.heads.num_kv_heads == 0 ? shape->heads : params.heads.num_kv_heads;
  if (shape->heads <= 0 || shape->kv_heads <= 0 || shape->heads % shape->kv_heads != 0) return false;
  shape->dim = HeadDim(params.query, shape->input, shape->heads);
  shape->value_dim = HeadDim(params.attention_out, shape->output, shape->heads);
  if (params.rope && params.rope->query.present())
    shape->rope_dim = HeadDim(params.rope->query, shape->input, shape->heads);
  if (shape->packed) {
    if (!params.lengths) return false;
    shape->batch = static_cast<std::int64_t>(params.lengths->query.size());
  } else {
    shape->batch = params.query.dims[in.batch];
    shape->query_axis = params.query.dims[in.token];
  }
  return true;
}

}  // namespace

bool ReadShape(const AttentionParams& params, CallShape* shape) {
  *shape = CallShape();
  const bool no_keys = AllEmpty(params.key) && AllEmpty(params.value) && !HasPrefix(params);
  shape->fill_only = !HasElements(params.query) || no_keys;
  if (shape->fill_only) return true;
  if (params.key.empty() || params.key.size() != params.value.size()) return false;
  const NamedLayout* const end = std::end(kNamedLayouts);
  const NamedLayout* layout = std::find_if(std::begin(kNamedLayouts), end, [&](const NamedLayout& named) {
    return params.heads.layout == named.name;
  });
  if (layout == end) return false;
  shape->input = layout->input;
  shape->output = layout->output;
  shape->packed = AxesOf(layout->input).batch < 0;
  if (!ReadAxes(params, shape)) return false;
  shape->paged = params.paged && params.paged->block_table.present();
  shape->list = params.key.size() > 1;
  if (shape->list && params.key.size() < static_cast<std::size_t>(shape->batch)) return false;
  shape->decode = shape->query_axis == 1 && !shape->packed && layout->input == layout->output &&
                  shape->rope_dim == 0 && shape->dim == shape->value_dim;
  ReadKind(params, shape);
  ReadPrefix(params, shape);
  shape->sequences.resize(static_cast<std::size_t>(shape->batch));
  if (!ReadQueryLengths(params, shape)) return false;
  shape->left_padded = QueryIsPadded(params, *shape) || KvIsPadded(params);
  return ReadKvLengths(params, shape);
}

bool QueryIsPadded(const AttentionParams& params, const CallShape& shape) noexcept {
  return params.padding && params.padding->query_size.present() && params.lengths &&
         !params.lengths->query.empty() && shape.query_axis > 1 && !shape.packed;
}

bool KvIsPadded(const AttentionParams& params) noexcept {
  return params.padding && params.padding->kv_size.present() && params.lengths &&
         !params.lengths->key_value.empty();
}

void ReadPadding(const AttentionParams& params, CallShape* shape) {
  const auto size_of = [](const TensorView& view) {
    const std::int64_t size = ReadInt64(view);
    return size < 0 ? 0 : size;
  };
  if (QueryIsPadded(params, *shape)) {
    const std::int64_t size = size_of(params.padding->query_size);
    for (SequenceShape& sequence : shape->sequences)
      sequence.query_begin = shape->query_axis - sequence.query_length - size;
  }
  if (KvIsPadded(params)) {
    const std::int64_t size = size_of(params.padding->kv_size);
    const std::int64_t axis = params.key[0].dims[AxesOf(shape->input).token];
    for (SequenceShape& sequence : shape->sequences) sequence.kv_begin = axis - sequence.kv_length - size;
  }
}

HeadRow RowOf(const TensorView& view, AxisOrder order, std::int64_t dim, std::int64_t batch,
              std::int64_t token, std::int64_t head) noexcept {
  const Axes& axes = AxesOf(order);
  HeadRow row;
  row.view = &view;
  row.position = token * view.strides[axes.token];
  if (axes.batch >= 0) row.position += batch * view.strides[axes.batch];
  if (axes.head >= 0) row.position += head * view.strides[axes.head];
  if (axes.head < 0) row.first = head * dim;
  return row;
}

}  // namespace fia::reference
