#include "describe/hand_call.h"

#include <numeric>

#include "core/layout.h"

namespace fia::testing {
namespace {

std::int64_t BitsPerElement(DataType dtype) {
  static const std::map<DataType, std::int64_t> kBits = {
      {DataType::kInt4, 4},     {DataType::kInt8, 8},      {DataType::kUint8, 8},    {DataType::kBool, 8},
      {DataType::kFloat16, 16}, {DataType::kBfloat16, 16}, {DataType::kFloat32, 32}, {DataType::kInt32, 32},
      {DataType::kUint64, 64},  {DataType::kInt64, 64}};
  return kBits.at(dtype);
}

std::vector<std::int64_t> Starts(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> starts(lengths.size(), 0);
  for (std::size_t b = 1; b < lengths.size(); ++b) starts[b] = starts[b - 1] + lengths[b - 1];
  return starts;
}

std::int64_t Sum(const std::vector<std::int64_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

}  // namespace

std::string InputLetters(const std::string& layout) { return layout.substr(0, layout.find('_')); }

std::string OutputLetters(const std::string& layout) {
  const std::size_t cut = layout.find('_');
  return cut == std::string::npos ? layout : layout.substr(cut + 1);
}

TensorView ViewOf(const std::string& letters, const Letters& sizes, DataType dtype) {
  TensorView view;
  view.dtype = dtype;
  view.rank = static_cast<std::int32_t>(letters.size());
  int axis = 0;
  for (const char letter : letters) {
    view.dims[axis++] = letter == 'H' ? sizes.at('N') * sizes.at('D') : sizes.at(letter);
  }
  view.SetRowMajorStrides();
  return view;
}

void Scatter(Rng* rng, TensorView* view) {
  for (int axis = 0; axis < view->rank; ++axis) {
    view->strides[axis] = rng->Chance(0.2) ? 0 : 2 * rng->Between(1, 5000);
  }
  if (view->dtype == DataType::kInt4) view->strides[view->rank - 1] = 1;
}

std::int64_t BitAt(const TensorView& view, const std::string& letters, const Letters& indices,
                   std::int64_t dim, bool packed_words) {
  std::int64_t bit = 0;
  for (std::size_t axis = 0; axis < letters.size(); ++axis) {
    std::int64_t index =
        letters[axis] == 'H' ? indices.at('N') * dim + indices.at('D') : indices.at(letters[axis]);
    if (packed_words && axis + 1 == letters.size()) {
      bit += index % 8 * 4;
      index /= 8;
    }
    bit += index * view.strides[axis] * BitsPerElement(view.dtype);
  }
  return bit;
}

std::int64_t BitAt(const RowTensor& rows, std::int64_t offset, std::int64_t row, std::int64_t head,
                   std::int64_t element) {
  const std::int64_t bytes =
      offset + row * rows.row_stride + head * rows.head_stride + element / rows.chunk * rows.chunk_stride;
  const std::int64_t inside = element % rows.chunk;
  return bytes * 8 + inside * (rows.dtype == DataType::kInt4 ? 4 : rows.dim_stride * 8);
}

HandCall MakeHandCall(const Facts& facts) {
  HandCall made;
  Call& call = made.call;
  call.layout = FindLayout(facts.layout);
  call.batch = facts.batch;
  call.num_heads = facts.heads;
  call.num_kv_heads = facts.kv_heads;
  call.head_dim = facts.dim;
  call.value_dim = facts.value_dim;
  call.query_axis = facts.query_axis;
  call.kv_axis = facts.kv_axis;
  call.kv_dtype = DataType::kFloat16;
  call.query_lengths = facts.query_lengths;
  call.kv_lengths = facts.kv_lengths;
  const std::vector<std::int64_t> zeros(static_cast<std::size_t>(facts.batch), 0);
  call.query_starts = call.layout->packed ? Starts(facts.query_lengths) : zeros;
  call.kv_starts = call.layout->packed ? Starts(facts.kv_lengths) : zeros;

  const std::string input = InputLetters(facts.layout);
  const Letters query = {{'B', facts.batch},
                         {'S', facts.query_axis},
                         {'T', Sum(facts.query_lengths)},
                         {'N', facts.heads},
                         {'D', facts.dim}};
  Letters key = query;
  key['S'] = facts.kv_axis;
  key['T'] = Sum(facts.kv_lengths);
  key['N'] = facts.kv_heads;
  Letters value = key, out = query;
  value['D'] = out['D'] = facts.value_dim;
  AttentionParams& params = made.params;
  params.query = ViewOf(input, query, DataType::kFloat16);
  params.key = {ViewOf(input, key, DataType::kFloat16)};
  params.value = {ViewOf(input, value, DataType::kFloat16)};
  params.attention_out = ViewOf(OutputLetters(facts.layout), out, DataType::kFloat16);
  params.heads = {facts.layout, facts.heads, facts.kv_heads};
  return made;
}

}  // namespace fia::testing
