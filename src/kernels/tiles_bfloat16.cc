// The tile kernels for caches of bfloat16.
#include "kernels/few_rows.h"
#include "kernels/many_rows.h"

namespace fia::FIA_ISA_NAMESPACE {

template void TileFewRows<Bfloat16Element>(const TileArgs& args);
template void TileManyRows<Bfloat16Element>(const TileArgs& args);

}  // namespace fia::FIA_ISA_NAMESPACE
