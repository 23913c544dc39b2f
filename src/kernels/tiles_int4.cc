// The tile kernels for caches of int4.
#include "kernels/few_rows.h"
#include "kernels/many_rows.h"

namespace fia::FIA_ISA_NAMESPACE {

template void TileFewRows<Int4Element>(const TileArgs& args);
template void TileManyRows<Int4Element>(const TileArgs& args);

}  // namespace fia::FIA_ISA_NAMESPACE
