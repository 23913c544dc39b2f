// The tile kernels for caches of bfloat16.
#include "kernels/few_rows.h"
#include "kernels/many_rows.h"

namespace fia::FIA_ISA_NAMESPACE {

template void TileFewRows<Bfloat16Element>(const TileArgs& args);
template void TileManyRows<Bfloat16Element>(const TileArgs& args);
#if defined(FIA_BFLOAT16_DOT)
template void TileManyRows<Bfloat16Element, Body::kBfloat16Scores>(const TileArgs& args);
template void TileManyRows<Bfloat16Element, Body::kBfloat16>(const TileArgs& args);
#endif

}  // namespace fia::FIA_ISA_NAMESPACE
