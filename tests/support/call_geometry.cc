#include "support/call_geometry.h"

#include <algorithm>
#include <stdexcept>

namespace fia::testing {
namespace {

struct NamedLayout {
  const char* name;
  AxisOrder input;
  AxisOrder output;
};

constexpr NamedLayout kLayouts[] = {
    {"BSH", AxisOrder::kBsh, AxisOrder::kBsh},         {"BSND", AxisOrder::kBsnd, AxisOrder::kBsnd},
    {"BNSD", AxisOrder::kBnsd, AxisOrder::kBnsd},      {"BSH_BNSD", AxisOrder::kBsh, AxisOrder::kBnsd},
    {"BSND_BNSD", AxisOrder::kBsnd, AxisOrder::kBnsd}, {"BNSD_BSND", AxisOrder::kBnsd, AxisOrder::kBsnd},
    {"BSH_NBSD", AxisOrder::kBsh, AxisOrder::kNbsd},   {"BSND_NBSD", AxisOrder::kBsnd, AxisOrder::kNbsd},
    {"BNSD_NBSD", AxisOrder::kBnsd, AxisOrder::kNbsd}, {"TND", AxisOrder::kTnd, AxisOrder::kTnd},
    {"NTD", AxisOrder::kNtd, AxisOrder::kNtd},         {"NTD_TND", AxisOrder::kNtd, AxisOrder::kTnd},
    {"TND_NTD", AxisOrder::kTnd, AxisOrder::kNtd}};

const NamedLayout& FindNamed(const std::string& name) {
  for (const NamedLayout& layout : kLayouts) {
    if (name == layout.name) return layout;
  }
  throw std::invalid_argument("no such layout: " + name);
}

std::int64_t Longest(const std::vector<std::int64_t>& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

std::int64_t RoundedUp(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

struct OrderAxes {
  int batch, token, head, dim;  // -1: no such axis (kBsh: heads lie in dim)
};

OrderAxes AxesOf(AxisOrder order) {
  switch (order) {
    case AxisOrder::kBsh:
      return {0, 1, -1, 2};
    case AxisOrder::kBsnd:
      return {0, 1, 2, 3};
    case AxisOrder::kBnsd:
      return {0, 2, 1, 3};
    case AxisOrder::kNbsd:
      return {1, 2, 0, 3};
    case AxisOrder::kTnd:
      return {-1, 0, 1, 2};
    case AxisOrder::kNtd:
      break;
  }
  return {-1, 1, 0, 2};
}

}  // namespace

CallGeometry::CallGeometry(const CallSpec& spec) {
  const NamedLayout& layout = FindNamed(spec.layout);
  input = layout.input;
  output = layout.output;
  packed = input == AxisOrder::kTnd || input == AxisOrder::kNtd;
  prefix = spec.prefix.length;
  query_axis = Longest(spec.query_lengths) + (packed ? 0 : spec.query_slack);
  const bool plain = spec.layout == "BSH" || spec.layout == "BSND" || spec.layout == "BNSD";
  decode = query_axis == 1 && plain && spec.rope_dim == 0 && spec.head_dim == spec.value_dim;
  query_padded = spec.padding.query && spec.query_form != LengthsForm::kAbsent && query_axis > 1 && !decode;
  kv_padded = spec.padding.kv && spec.kv_form != LengthsForm::kAbsent;
  const std::int64_t longest = Longest(spec.kv_lengths);
  if (spec.is_paged()) {
    const std::int64_t used = RoundedUp(longest, spec.paged.block_size);
    table_width = std::max<std::int64_t>(used / spec.paged.block_size + spec.paged.table_slack, 1);
    kv_axis = table_width * spec.paged.block_size;
    mask_columns = used;
  } else {
    kv_axis = longest + (packed ? 0 : spec.kv_slack);
    mask_columns = kv_axis + prefix;
  }
  for (std::size_t b = 0; b < spec.query_lengths.size(); ++b) {
    SequenceGeometry sequence;
    sequence.rows = spec.query_lengths[b];
    sequence.keys = spec.kv_lengths[b] + prefix;
    sequence.query_base = packed ? query_tokens : 0;
    sequence.kv_base = packed && !spec.is_paged() ? kv_tokens : 0;
    if (query_padded)
      sequence.query_start = query_axis - std::max<std::int64_t>(spec.padding.query_size, 0) - sequence.rows;
    if (kv_padded)
      sequence.kv_start = kv_axis - std::max<std::int64_t>(spec.padding.kv_size, 0) - spec.kv_lengths[b];
    sequence.computed = sequence.query_start >= 0 && sequence.kv_start >= 0;
    query_tokens += sequence.rows;
    kv_tokens += spec.kv_lengths[b];
    sequences.push_back(sequence);
  }
}

double MaskElement(const CallSpec& spec, const CallGeometry& geometry, std::int64_t b, std::int64_t i,
                   std::int64_t j) {
  if (!spec.mask.batch_shared) return ContentAt(spec, {Part::kMask, spec.id(b), 0, i, j});
  const SequenceGeometry& sequence = geometry.sequences[static_cast<std::size_t>(b)];
  return ContentAt(spec, {Part::kMask, 0, 0, sequence.query_start + i, sequence.kv_start + j});
}

bool CallGeometry::Attends(const CallSpec& spec, std::int64_t b, std::int64_t i, std::int64_t j) const {
  const SequenceGeometry& sequence = sequences[static_cast<std::size_t>(b)];
  if (!sequence.computed) return false;
  const MaskSpec& mask = spec.mask;
  const bool full = mask.given && (decode || mask.mode < 2);
  if (full && MaskElement(spec, *this, b, i, j) != 0) return false;
  if (decode) return true;
  const std::int64_t shift = sequence.keys - sequence.rows;
  const bool padded = query_padded || kv_padded;
  switch (mask.mode) {
    case 0:
      return !mask.given || padded || (j >= i - mask.pre_tokens && j <= i + mask.next_tokens);
    case 1:
      return true;
    case 2:
      return j <= i;
    case 3:
      return j <= i + shift;
    default:
      return j >= i + shift - mask.pre_tokens && j <= i + shift + mask.next_tokens;
  }
}

bool CallGeometry::AnyAttends(const CallSpec& spec, std::int64_t b, std::int64_t j) const {
  // Outwards from the row of the same number: bands attend near it.
  const std::int64_t rows = sequences[static_cast<std::size_t>(b)].rows;
  const std::int64_t start = std::min(j, rows - 1);
  for (std::int64_t distance = 0; distance < rows; ++distance) {
    for (const std::int64_t i : {start - distance, start + distance}) {
      if (i >= 0 && i < rows && Attends(spec, b, i, j)) return true;
    }
  }
  return false;
}

std::vector<std::int64_t> DimsOf(AxisOrder order, std::int64_t batch, std::int64_t tokens, std::int64_t heads,
                                 std::int64_t dim) {
  switch (order) {
    case AxisOrder::kBsh:
      return {batch, tokens, heads * dim};
    case AxisOrder::kBsnd:
      return {batch, tokens, heads, dim};
    case AxisOrder::kBnsd:
      return {batch, heads, tokens, dim};
    case AxisOrder::kNbsd:
      return {heads, batch, tokens, dim};
    case AxisOrder::kTnd:
      return {tokens, heads, dim};
    case AxisOrder::kNtd:
      break;
  }
  return {heads, tokens, dim};
}

Rows RowsOf(const TensorView& view, AxisOrder order, std::int64_t dim, DataType dtype, std::int64_t packing) {
  const OrderAxes axes = AxesOf(order);
  Rows rows;
  rows.data = static_cast<std::uint8_t*>(view.data);
  rows.dtype = dtype;
  rows.batch = axes.batch < 0 ? 0 : view.strides[axes.batch] * packing;
  rows.token = view.strides[axes.token] * packing;
  const std::int64_t inner = view.strides[axes.dim];
  rows.head = axes.head < 0 ? dim / packing * inner * packing : view.strides[axes.head] * packing;
  if (packing > 1) {
    rows.chunk = packing;
    rows.chunk_stride = inner * packing;
  } else {
    rows.dim = inner;
  }
  return rows;
}

}  // namespace fia::testing
