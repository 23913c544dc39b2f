// attenMask, pseShift and learnableSink of a call.
#include <vector>

#include "support/call_parts.h"
#include "support/tensor.h"

namespace fia::testing {
namespace {

constexpr std::int64_t kBandMask = 2048;  // modes 2 to 4: rows and columns of the mask tensor

// The mask that modes 2 to 4 take. All ones: its contents must not be read.
TensorView BandMask(const MaskSpec& mask) {
  static std::vector<std::uint8_t> ones(kBandMask * kBandMask, 1);
  switch (mask.rank) {
    case 2:
      return TensorView::Contiguous(ones.data(), mask.dtype, {kBandMask, kBandMask});
    case 3:
      return TensorView::Contiguous(ones.data(), mask.dtype, {1, kBandMask, kBandMask});
    default:
      return TensorView::Contiguous(ones.data(), mask.dtype, {1, 1, kBandMask, kBandMask});
  }
}

// A full mask's element (batch, row, column) for any rank.
std::vector<std::int64_t> MaskIndex(int rank, bool one_row, std::int64_t batch, std::int64_t row,
                                    std::int64_t column) {
  if (rank == 2) return {one_row ? batch : row, column};
  if (rank == 3) return {batch, row, column};
  return {batch, 0, row, column};
}

double MaskByte(DataType dtype, double masked, std::int64_t row, std::int64_t column) {
  if (masked == 0) return 0;
  constexpr double kNonZero[3] = {1, 2, -128};
  const double value = kNonZero[(row + column) % 3];
  if (dtype == DataType::kInt8) return value;
  return dtype == DataType::kUint8 && value < 0 ? 128 : dtype == DataType::kBool ? 1 : value;
}

TensorView BuildFullMask(const CallParts& parts) {
  const CallSpec& spec = parts.spec;
  const CallGeometry& geometry = parts.geometry;
  const MaskSpec& mask = spec.mask;
  const bool one_row = geometry.query_axis == 1 && !geometry.packed;
  const std::int64_t batches = mask.batch_shared ? 1 : spec.batch();
  const std::int64_t rows = one_row ? 1 : geometry.query_axis + mask.row_slack;
  const std::int64_t columns = geometry.mask_columns + mask.column_slack;
  std::vector<std::int64_t> dims = {batches, rows, columns};
  if (mask.rank == 2) dims = {one_row ? batches : rows, columns};
  if (mask.rank == 4) dims = {batches, 1, rows, columns};
  OwnedTensor tensor = MakeTensor(dims, mask.dtype, mask.form, spec.guard, 1);
  for (std::int64_t b = 0; b < spec.batch(); ++b) {
    const SequenceGeometry& sequence = geometry.sequences[static_cast<std::size_t>(b)];
    for (std::int64_t i = 0; i < (sequence.computed ? sequence.rows : 0); ++i) {
      for (std::int64_t j = 0; j < sequence.keys; ++j) {
        const std::int64_t row = sequence.query_start + i;
        const std::int64_t column = sequence.kv_start + j;
        tensor.Set(MaskIndex(mask.rank, one_row, mask.batch_shared ? 0 : b, row, column),
                   MaskByte(mask.dtype, MaskElement(spec, geometry, b, i, j), row, column));
      }
    }
  }
  return parts.tensors->Keep(std::move(tensor));
}

void BuildSink(const CallParts& parts) {
  OwnedTensor sink =
      MakeTensor({parts.spec.num_heads}, parts.spec.dtype, ViewForm::kDense, parts.spec.guard, parts.fill());
  for (std::int64_t n = 0; n < parts.spec.num_heads; ++n)
    sink.Set({n}, ContentAt(parts.spec, {Part::kSink, 0, parts.HeadId(n), 0, 0}));
  parts.params->scores.learnable_sink = parts.tensors->Keep(std::move(sink));
}

}  // namespace

void BuildMask(const CallParts& parts) {
  const MaskSpec& spec = parts.spec.mask;
  Mask mask;
  mask.sparse_mode = spec.mode;
  mask.pre_tokens = spec.pre_tokens;
  mask.next_tokens = spec.next_tokens;
  if (!parts.geometry.decode && spec.mode >= 2) {
    mask.tensor = BandMask(spec);
  } else if (spec.given) {
    mask.tensor = BuildFullMask(parts);
  }
  parts.params->mask = mask;
}

void BuildBias(const CallParts& parts) {
  const CallSpec& spec = parts.spec;
  const CallGeometry& geometry = parts.geometry;
  if (spec.sink) BuildSink(parts);
  if (!spec.bias.given) return;
  const DataType dtype = spec.dtype == DataType::kInt8 ? DataType::kFloat16 : spec.dtype;
  const bool shared = spec.bias.batch_shared;
  const bool one_head = spec.bias.form == ViewForm::kBroadcast;
  OwnedTensor bias =
      MakeTensor({shared ? 1 : spec.batch(), spec.num_heads, geometry.query_axis + spec.bias.row_slack,
                  geometry.mask_columns + spec.bias.column_slack},
                 dtype, spec.bias.form, spec.guard, parts.fill(), 1);
  for (std::int64_t b = 0; b < spec.batch(); ++b) {
    const SequenceGeometry& sequence = geometry.sequences[static_cast<std::size_t>(b)];
    for (std::int64_t i = 0; i < sequence.rows; ++i) {
      for (std::int64_t j = 0; j < sequence.keys; ++j) {
        if (!geometry.Attends(spec, b, i, j)) continue;
        const std::int64_t row = sequence.query_start + i;
        const std::int64_t column = sequence.kv_start + j;
        for (std::int64_t n = 0; n < spec.num_heads; ++n) {
          const std::int64_t head = one_head ? 0 : parts.HeadId(n);
          const Site site =
              shared ? Site{Part::kBias, 0, head, row, column} : Site{Part::kBias, spec.id(b), head, i, j};
          bias.Set({shared ? 0 : b, n, row, column}, ContentAt(spec, site));
        }
      }
    }
  }
  parts.params->scores.pse_shift = parts.tensors->Keep(std::move(bias));
}

}  // namespace fia::testing
