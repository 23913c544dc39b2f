#include "kernels/few_rows.h"

namespace fia::FIA_ISA_NAMESPACE {

void AddRopeDots(const TileArgs& args, DotArgs dots) {
  dots.keys.rows = args.rope_rows;
  dots.first_dim = 0;
  dots.dims = args.shape.rope_dim;
  dots.keys.distance = 0;
  dots.add = true;
  switch (args.rope_type) {
    case DataType::kFloat16:
      return Dots<Float16Element>(dots);
    case DataType::kBfloat16:
      return Dots<Bfloat16Element>(dots);
    default:
      return Dots<Float32Element>(dots);
  }
}

void AddSums(const TileArgs& args, const RowStep* steps, bool first, const float* sums,
             std::int64_t sum_stride) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const Packet correction = Broadcast(first ? steps[row].correction : 1.0f);
    const Packet factor = Broadcast(steps[row].factor);
    float* acc = args.state.acc + row * args.state.acc_stride;
    for (std::int64_t dim = 0; dim < args.shape.value_dim; dim += kWidth) {
      const Packet sum = packets::pmul(Load(sums + row * sum_stride + dim), factor);
      Store(acc + dim, MultiplyAdd(Load(acc + dim), correction, sum));
    }
  }
}

}  // namespace fia::FIA_ISA_NAMESPACE
