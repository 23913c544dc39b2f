#include "support/call_builder.h"

#include <cstring>

#include "support/judge.h"
#include "support/tensor.h"

namespace fia::testing {
namespace {

constexpr std::uint8_t kCanary = 0xA5;

std::vector<std::int64_t> PaddedLengths(const std::vector<std::int64_t>& lengths, LengthsForm form) {
  if (form == LengthsForm::kAbsent) return {};
  if (form == LengthsForm::kOne) return {lengths[0]};
  std::vector<std::int64_t> result = lengths;
  if (form == LengthsForm::kExtra) result.insert(result.end(), {-7, std::int64_t{1} << 40});
  return result;
}

std::vector<std::int64_t> Cumulative(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> result;
  std::int64_t end = 0;
  for (const std::int64_t length : lengths) result.push_back(end += length);
  return result;
}

void AppendElement(const Rows& rows, std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t d,
                   std::vector<std::uint8_t>* bytes) {
  const std::int64_t size = ElementBits(rows.dtype) / 8;
  const std::uint8_t* element = rows.data + rows.Offset(b, t, n, d) * size;
  bytes->insert(bytes->end(), element, element + size);
}

}  // namespace

BuiltCall::BuiltCall(const CallSpec& spec) : spec_(spec), geometry_(spec) {
  const CallParts parts{spec_, geometry_, &tensors_, &params_};
  params_.heads.layout = spec_.layout;
  params_.heads.num_heads = spec_.num_heads;
  params_.heads.num_kv_heads = spec_.spell_kv_heads ? spec_.num_kv_heads : 0;
  params_.scores.scale = spec_.scale;
  params_.scores.inner_precise = spec_.inner_precise;
  params_.execution.check = spec_.check;
  params_.execution.num_threads = spec_.threads;
  BuildQuery(parts);
  BuildLengths();
  BuildPadding(parts);
  BuildCache(parts);
  BuildMask(parts);
  BuildBias(parts);
  BuildQuantisation(parts);
  BuildOutputs();
}

void BuiltCall::BuildQuery(const CallParts& parts) {
  const std::int64_t tokens = geometry_.packed ? geometry_.query_tokens : geometry_.query_axis;
  const std::int64_t dims[2] = {spec_.head_dim, spec_.rope_dim};
  const DataType rope_dtype = spec_.quant.flow == QuantFlow::kInt8Mla ? DataType::kBfloat16 : spec_.dtype;
  const DataType dtypes[2] = {spec_.dtype, rope_dtype};
  TensorView views[2];
  for (int which = 0; which < (spec_.rope_dim > 0 ? 2 : 1); ++which) {
    const std::int64_t dim = dims[which];
    views[which] = parts.Make(DimsOf(geometry_.input, spec_.batch(), tokens, spec_.num_heads, dim),
                              dtypes[which], spec_.query_view);
    const Rows rows = RowsOf(views[which], geometry_.input, dim, dtypes[which], 1);
    const Part part = which == 0 ? Part::kQuery : Part::kQueryRope;
    for (std::int64_t b = 0; b < spec_.batch(); ++b) {
      const SequenceGeometry& sequence = geometry_.sequences[static_cast<std::size_t>(b)];
      for (std::int64_t i = 0; i < (sequence.computed ? sequence.rows : 0); ++i) {
        const std::int64_t token = sequence.query_base + sequence.query_start + i;
        for (std::int64_t n = 0; n < spec_.num_heads; ++n) {
          for (std::int64_t d = 0; d < dim; ++d)
            rows.Set(b, token, n, d, ContentAt(spec_, {part, spec_.id(b), parts.HeadId(n), i, d}));
        }
      }
    }
  }
  params_.query = views[0];
  if (spec_.rope_dim > 0) params_.rope.emplace().query = views[1];
}

void BuiltCall::BuildLengths() {
  SequenceLengths lengths;
  lengths.query = geometry_.packed ? Cumulative(spec_.query_lengths)
                                   : PaddedLengths(spec_.query_lengths, spec_.query_form);
  lengths.key_value = geometry_.packed && !spec_.is_paged() ? Cumulative(spec_.kv_lengths)
                                                            : PaddedLengths(spec_.kv_lengths, spec_.kv_form);
  if (!lengths.query.empty() || !lengths.key_value.empty()) params_.lengths = lengths;
}

void BuiltCall::BuildPadding(const CallParts& parts) {
  const auto size = [&parts](std::int64_t value) {
    const TensorView view = parts.Make({1}, DataType::kInt64, ViewForm::kDense);
    std::memcpy(view.data, &value, sizeof value);
    return view;
  };
  if (!spec_.padding.query && !spec_.padding.kv) return;
  LeftPadding& padding = params_.padding.emplace();
  if (spec_.padding.query) padding.query_size = size(spec_.padding.query_size);
  if (spec_.padding.kv) padding.kv_size = size(spec_.padding.kv_size);
}

void BuiltCall::BuildOutputs() {
  const std::int64_t tokens = geometry_.packed ? geometry_.query_tokens : geometry_.query_axis;
  const std::int64_t heads = spec_.num_heads;
  tensors_.out = MakeTensor(DimsOf(geometry_.output, spec_.batch(), tokens, heads, spec_.value_dim),
                            spec_.out_dtype, spec_.out_view, spec_.guard, kCanary);
  params_.attention_out = tensors_.out.view;
  if (!spec_.lse) return;
  const std::vector<std::int64_t> dims = geometry_.packed
                                             ? std::vector<std::int64_t>{tokens, heads, 1}
                                             : std::vector<std::int64_t>{spec_.batch(), heads, tokens, 1};
  tensors_.lse = MakeTensor(dims, DataType::kFloat32, spec_.out_view, spec_.guard, kCanary);
  params_.softmax_lse = tensors_.lse.view;
}

Status BuiltCall::Run() const { return RunCall(params_); }

double BuiltCall::Out(std::int64_t b, std::int64_t i, std::int64_t n, std::int64_t d) const {
  const SequenceGeometry& sequence = geometry_.sequences[static_cast<std::size_t>(b)];
  const Rows rows = RowsOf(tensors_.out.view, geometry_.output, spec_.value_dim, spec_.out_dtype, 1);
  return rows.Get(b, sequence.query_base + sequence.query_start + i, n, d);
}

double BuiltCall::Lse(std::int64_t b, std::int64_t i, std::int64_t n) const {
  const SequenceGeometry& sequence = geometry_.sequences[static_cast<std::size_t>(b)];
  const AxisOrder order = geometry_.packed ? AxisOrder::kTnd : AxisOrder::kBnsd;
  const Rows rows = RowsOf(tensors_.lse.view, order, 1, DataType::kFloat32, 1);
  return rows.Get(b, sequence.query_base + sequence.query_start + i, n, 0);
}

std::vector<std::uint8_t> BuiltCall::Bits(std::int64_t b, bool with_lse) const {
  const SequenceGeometry& sequence = geometry_.sequences[static_cast<std::size_t>(b)];
  const Rows out = RowsOf(tensors_.out.view, geometry_.output, spec_.value_dim, spec_.out_dtype, 1);
  std::vector<std::uint8_t> bytes;
  if (!sequence.computed) return bytes;
  const std::int64_t first = sequence.query_base + sequence.query_start;
  for (std::int64_t i = 0; i < sequence.rows; ++i) {
    for (std::int64_t n = 0; n < spec_.num_heads; ++n) {
      for (std::int64_t d = 0; d < spec_.value_dim; ++d) AppendElement(out, b, first + i, n, d, &bytes);
    }
  }
  if (!with_lse || !tensors_.lse.present()) return bytes;
  const AxisOrder order = geometry_.packed ? AxisOrder::kTnd : AxisOrder::kBnsd;
  const Rows lse = RowsOf(tensors_.lse.view, order, 1, DataType::kFloat32, 1);
  for (std::int64_t i = 0; i < sequence.rows; ++i) {
    for (std::int64_t n = 0; n < spec_.num_heads; ++n) AppendElement(lse, b, first + i, n, 0, &bytes);
  }
  return bytes;
}

bool BuiltCall::OutputGapsHold() const {
  return GapsHold(tensors_.out, kCanary) && (!tensors_.lse.present() || GapsHold(tensors_.lse, kCanary));
}

}  // namespace fia::testing
