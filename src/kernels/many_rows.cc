#include "kernels/many_rows.h"

namespace fia::FIA_ISA_NAMESPACE {
namespace {

// q . k of `rows` rows from `first_row` on with the panels that hold `range`.
template <Body kBody>
void ScoreBlock(const TileArgs& args, std::int64_t first_row, int rows, KeyRange range, float* scores) {
  constexpr bool kPaired = PairedKeys(kBody);
  constexpr std::int64_t kChain = kPaired ? kScoreChain / 2 : kScoreChain;
  const ManyRowsScratch place = PlaceManyRows(kBody, args.shape);
  const QueryLayout query = LayoutOfQuery(kBody, args.shape);
  const std::int64_t slots =
      args.rope_rows != nullptr ? place.key_slots : Slots(args.shape.head_dim, kPaired);
  const float* panels = static_cast<const float*>(args.scratch) + place.keys;
  const float* packed = static_cast<const float*>(args.packed_query) + first_row * query.stride;
  const std::int64_t stride = ScoreStride(args.shape);
  for (std::int64_t key = range.begin / kPanel * kPanel; key < range.end; key += kPanel) {
    const int columns = range.end - key > kWidth ? 2 : 1;
    for (std::int64_t slot = 0; slot < slots; slot += kChain) {
      const float* panel = panels + (key * place.key_slots + slot * kPanel);
      const std::int64_t terms = Smaller(kChain, slots - slot);
      if constexpr (kPaired) {
        MultiplyPairPanel(rows, columns, packed + slot, query.stride, panel, terms, slot != 0, scores + key,
                          stride);
      } else {
        MultiplyPanel(rows, columns, packed + slot, query.stride, panel, terms, slot != 0, scores + key,
                      stride);
      }
    }
  }
}

// sums = weights . v of `rows` rows for one panel of dims and keys `keys`, one chain each.
template <Body kBody>
FIA_INLINE void WeighPanel(const WeightedRows& block, const float* panel, KeyRange keys, int columns,
                           float* sums) {
  const int rows = static_cast<int>(block.rows);
  if constexpr (PairedValues(kBody)) {
    const std::int64_t first = keys.begin / 2;
    MultiplyPairPanel(rows, columns, block.pairs + first, block.pair_stride, panel + first * kPanel,
                      Slots(keys.end, true) - first, false, sums, kPanel);
  } else {
    MultiplyPanel(rows, columns, block.weights + keys.begin, block.weight_stride, panel + keys.begin * kPanel,
                  keys.end - keys.begin, false, sums, kPanel);
  }
}

// acc = acc * correction + (weights . v) * factor for a block of rows; the factor applies to every chain of
// kValueChain keys, the correction to the first.
template <Body kBody>
void WeighBlock(const TileArgs& args, const WeightedRows& block) {
  const ManyRowsScratch place = PlaceManyRows(kBody, args.shape);
  const std::int64_t dims = args.shape.value_dim;
  const float* panels = static_cast<const float*>(args.scratch) + place.values;
  for (std::int64_t dim = 0; dim < dims; dim += kPanel) {
    const int columns = dims - dim > kWidth ? 2 : 1;
    bool first = true;
    for (std::int64_t key = block.range.begin; key < block.range.end; first = false) {
      const std::int64_t end = Smaller(block.range.end, (key / kValueChain + 1) * kValueChain);
      alignas(64) float sums[kBlockRows * kPanel];
      WeighPanel<kBody>(block, panels + dim * place.value_slots, {key, end}, columns, sums);
      for (int row = 0; row < block.rows; ++row) {
        float* acc = args.state.acc + (block.first_row + row) * args.state.acc_stride + dim;
        const Packet correction = Broadcast(first ? block.steps[row].correction : 1.0f);
        const Packet factor = Broadcast(block.steps[row].factor);
        for (int column = 0; column < columns; ++column) {
          const Packet sum = packets::pmul(Load(sums + row * kPanel + column * kWidth), factor);
          Store(acc + column * kWidth, MultiplyAdd(Load(acc + column * kWidth), correction, sum));
        }
      }
      key = end;
    }
  }
}

}  // namespace

void PackRope(const TileArgs& args, KeyRange range, float* panels) {
  const std::int64_t dim = args.shape.rope_dim;
  const std::int64_t first = args.shape.head_dim;
  switch (args.rope_type) {
    case DataType::kFloat16:
      return PackKeys<Float16Element>(args.rope_rows, range, dim, first, first + dim, panels);
    case DataType::kBfloat16:
      return PackKeys<Bfloat16Element>(args.rope_rows, range, dim, first, first + dim, panels);
    default:
      return PackKeys<Float32Element>(args.rope_rows, range, dim, first, first + dim, panels);
  }
}

template <Body kBody>
void RunRowBlocks(const TileArgs& args, NonFiniteFunction add_non_finite) {
  const ManyRowsScratch place = PlaceManyRows(kBody, args.shape);
  float* scores = static_cast<float*>(args.scratch) + place.scores;
  float* pairs = static_cast<float*>(args.scratch) + place.pairs;
  float* extra = static_cast<float*>(args.scratch) + place.extra;
  const std::int64_t stride = ScoreStride(args.shape);
  // Blocks of about the same size: a last block of one row would cost almost as much as a whole one.
  const std::int64_t blocks = (args.rows + kBlockRows - 1) / kBlockRows;
  for (std::int64_t index = 0; index < blocks; ++index) {
    const std::int64_t first_row = args.rows * index / blocks;
    const std::int64_t rows = args.rows * (index + 1) / blocks - first_row;
    const KeyRange range = RangeOfRows(args, first_row, rows);
    if (range.begin >= range.end) continue;
    ScoreBlock<kBody>(args, first_row, static_cast<int>(rows), range, scores);
    RowStep steps[kBlockRows];
    const KeyRange softmax_range = {range.begin / kWidth * kWidth, range.end};
    for (std::int64_t row = 0; row < rows; ++row) {
      steps[row] = SoftmaxRow(args, first_row + row, softmax_range, scores + row * stride, extra);
      if constexpr (PairedValues(kBody)) {
        NarrowWeights(softmax_range, scores + row * stride, pairs + row * place.pair_stride);
      }
    }
    if (args.weights == Weights::kMaxOnly) continue;
    const WeightedRows block = {first_row, rows, range, scores, stride, steps, pairs, place.pair_stride};
    WeighBlock<kBody>(args, block);
    if (add_non_finite != nullptr) add_non_finite(args, block);
  }
}

template void RunRowBlocks<Body::kManyRows>(const TileArgs& args, NonFiniteFunction add_non_finite);
#if defined(FIA_BFLOAT16_DOT)
template void RunRowBlocks<Body::kBfloat16Scores>(const TileArgs& args, NonFiniteFunction add_non_finite);
template void RunRowBlocks<Body::kBfloat16>(const TileArgs& args, NonFiniteFunction add_non_finite);
#endif

}  // namespace fia::FIA_ISA_NAMESPACE
