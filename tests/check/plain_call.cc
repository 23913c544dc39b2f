#include "check/plain_call.h"

#include <vector>

namespace fia::testing {
namespace {

bool IsPacked(const std::string& layout) { return layout[0] == 'T' || layout[0] == 'N'; }

std::string InputForm(const std::string& layout) { return layout.substr(0, layout.find('_')); }

std::string OutputForm(const std::string& layout) { return layout.substr(layout.find('_') + 1); }

// Tokens of an axis of `tokens` for the shortest sequence.
std::int64_t TokenAxis(const Sizes& sizes, std::int64_t tokens) {
  return IsPacked(sizes.layout) ? tokens * sizes.batch * (sizes.batch + 1) / 2 : tokens;
}

std::vector<std::int64_t> Ends(std::int64_t batch, std::int64_t tokens) {
  std::vector<std::int64_t> ends;
  for (std::int64_t b = 1; b <= batch; ++b) ends.push_back(tokens * b * (b + 1) / 2);
  return ends;
}

Quantisation& QuantisationOf(AttentionParams& params) {
  if (!params.quantisation) params.quantisation.emplace();
  return *params.quantisation;
}

template <typename Group>
Group& Made(std::optional<Group>& group) {
  if (!group) group.emplace();
  return *group;
}

}  // namespace

TensorView View(DataType dtype, std::initializer_list<std::int64_t> dims) {
  return TensorView::Contiguous(nullptr, dtype, dims);
}

TensorView FormView(const std::string& form, DataType dtype, std::int64_t batch, std::int64_t tokens,
                    std::int64_t heads, std::int64_t dim) {
  if (form == "BSH") return View(dtype, {batch, tokens, heads * dim});
  if (form == "BSND") return View(dtype, {batch, tokens, heads, dim});
  if (form == "BNSD") return View(dtype, {batch, heads, tokens, dim});
  if (form == "NBSD") return View(dtype, {heads, batch, tokens, dim});
  if (form == "TND") return View(dtype, {tokens, heads, dim});
  return View(dtype, {heads, tokens, dim});
}

AttentionParams Plain(const Sizes& sizes) {
  AttentionParams params;
  const std::string input = InputForm(sizes.layout);
  const std::int64_t queries = TokenAxis(sizes, sizes.queries), keys = TokenAxis(sizes, sizes.keys);
  params.query = FormView(input, sizes.dtype, sizes.batch, queries, sizes.heads, sizes.dim);
  params.key = {FormView(input, sizes.dtype, sizes.batch, keys, sizes.kv_heads, sizes.dim)};
  params.value = {FormView(input, sizes.dtype, sizes.batch, keys, sizes.kv_heads, sizes.value_dim)};
  params.attention_out =
      FormView(OutputForm(sizes.layout), sizes.dtype, sizes.batch, queries, sizes.heads, sizes.value_dim);
  params.heads = {.layout = sizes.layout, .num_heads = sizes.heads, .num_kv_heads = sizes.kv_heads};
  params.scores.scale = 0.125;
  if (IsPacked(sizes.layout)) {
    params.lengths = SequenceLengths{.query = Ends(sizes.batch, sizes.queries),
                                     .key_value = Ends(sizes.batch, sizes.keys)};
  }
  return params;
}

TensorView CacheView(int rank, DataType dtype, std::int64_t blocks, std::int64_t block_size,
                     std::int64_t heads, std::int64_t dim) {
  const std::int64_t fraction = dtype == kByte ? 32 : dtype == kSingle ? 8 : 16;
  if (rank == 3) return View(dtype, {blocks, block_size, heads * dim});
  if (rank == 4) return View(dtype, {blocks, heads, block_size, dim});
  return View(dtype, {blocks, heads, dim / fraction, block_size, fraction});
}

AttentionParams Paged(Sizes sizes, int rank, std::int64_t block_size, std::int64_t columns) {
  AttentionParams params = Plain(sizes);
  const std::int64_t blocks = sizes.batch * columns;
  params.key = {CacheView(rank, sizes.dtype, blocks, block_size, sizes.kv_heads, sizes.dim)};
  params.value = {CacheView(rank, sizes.dtype, blocks, block_size, sizes.kv_heads, sizes.value_dim)};
  params.paged = PagedCache{.block_table = View(kWord, {sizes.batch, columns}), .block_size = block_size};
  LengthsOf(params).key_value.assign(static_cast<std::size_t>(sizes.batch), block_size * columns);
  return params;
}

void AddRope(AttentionParams* params, const Sizes& sizes) {
  const std::string input = InputForm(sizes.layout);
  params->rope = Rope{
      .query = FormView(input, sizes.dtype, sizes.batch, TokenAxis(sizes, sizes.queries), sizes.heads, 64),
      .key = FormView(input, sizes.dtype, sizes.batch, TokenAxis(sizes, sizes.keys), sizes.kv_heads, 64)};
}

void AddPrefix(AttentionParams* params, const Sizes& sizes, std::int64_t tokens) {
  const std::string input = InputForm(sizes.layout);
  params->prefix =
      SharedPrefix{.key = FormView(input, sizes.dtype, 1, tokens, sizes.kv_heads, sizes.dim),
                   .value = FormView(input, sizes.dtype, 1, tokens, sizes.kv_heads, sizes.value_dim),
                   .length = {}};
}

void MakeList(AttentionParams* params, const Sizes& sizes) {
  const std::string input = InputForm(sizes.layout);
  params->key.clear();
  params->value.clear();
  for (std::int64_t b = 0; b < sizes.batch; ++b) {
    params->key.push_back(FormView(input, sizes.dtype, 1, sizes.keys + b, sizes.kv_heads, sizes.dim));
    params->value.push_back(FormView(input, sizes.dtype, 1, sizes.keys + b, sizes.kv_heads, sizes.value_dim));
  }
}

void SetDim(TensorView* view, int axis, std::int64_t size) {
  view->dims[axis] = size;
  view->SetRowMajorStrides();
}

KvAntiquant& Antiquant(AttentionParams& params) { return Made(QuantisationOf(params).kv_antiquant); }
Int8Flow& Flow8(AttentionParams& params) { return Made(QuantisationOf(params).int8_flow); }
Int8Output& Output8(AttentionParams& params) { return Made(QuantisationOf(params).int8_output); }
Int8Mla& Mla8(AttentionParams& params) { return Made(QuantisationOf(params).int8_mla); }
Mask& MaskOf(AttentionParams& params) { return Made(params.mask); }
SequenceLengths& LengthsOf(AttentionParams& params) { return Made(params.lengths); }

}  // namespace fia::testing
