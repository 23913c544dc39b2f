// The tile kernels for caches of int8.
#include "kernels/few_rows.h"
#include "kernels/many_rows.h"

namespace fia::FIA_ISA_NAMESPACE {

template void TileFewRows<Int8Element>(const TileArgs& args);
template void TileManyRows<Int8Element>(const TileArgs& args);

}  // namespace fia::FIA_ISA_NAMESPACE
