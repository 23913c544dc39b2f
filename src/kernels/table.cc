// The table of one instruction set; the only function of its namespace that others call.
#include "core/kernel_table.h"
#include "kernels/few_rows.h"
#include "kernels/many_rows.h"
#include "kernels/query.h"
#include "kernels/scratch.h"
#include "kernels/state.h"

namespace fia::FIA_ISA_NAMESPACE {

extern template void TileFewRows<Float16Element>(const TileArgs& args);
extern template void TileFewRows<Bfloat16Element>(const TileArgs& args);
extern template void TileFewRows<Float32Element>(const TileArgs& args);
extern template void TileFewRows<Int8Element>(const TileArgs& args);
extern template void TileFewRows<Int4Element>(const TileArgs& args);
extern template void TileManyRows<Float16Element>(const TileArgs& args);
extern template void TileManyRows<Bfloat16Element>(const TileArgs& args);
extern template void TileManyRows<Float32Element>(const TileArgs& args);
extern template void TileManyRows<Int8Element>(const TileArgs& args);
extern template void TileManyRows<Int4Element>(const TileArgs& args);
#if defined(FIA_BFLOAT16_DOT)
extern template void TileManyRows<Bfloat16Element, Body::kBfloat16Scores>(const TileArgs& args);
extern template void TileManyRows<Bfloat16Element, Body::kBfloat16>(const TileArgs& args);
#endif

namespace {

std::int64_t ScratchBytes(Body body, const TileShape& shape) {
  const std::int64_t floats =
      body == Body::kFewRows ? PlaceFewRows(shape).end : PlaceManyRows(body, shape).end;
  return floats * static_cast<std::int64_t>(sizeof(float));
}

constexpr KernelTable kTable = {
    FIA_ISA_NAME,
    &QueryBytes,
    &ScratchBytes,
    &LoadQuery,
    {
        {&TileFewRows<Float16Element>, &TileFewRows<Bfloat16Element>, &TileFewRows<Float32Element>,
         &TileFewRows<Int8Element>, &TileFewRows<Int4Element>},
        {&TileManyRows<Float16Element>, &TileManyRows<Bfloat16Element>, &TileManyRows<Float32Element>,
         &TileManyRows<Int8Element>, &TileManyRows<Int4Element>},
#if defined(FIA_BFLOAT16_DOT)
        {nullptr, &TileManyRows<Bfloat16Element, Body::kBfloat16Scores>},
        {nullptr, &TileManyRows<Bfloat16Element, Body::kBfloat16>},
#endif
    },
    &MergeStates,
    &StoreRows,
};

}  // namespace

const KernelTable& Table();
const KernelTable& Table() { return kTable; }

}  // namespace fia::FIA_ISA_NAMESPACE
