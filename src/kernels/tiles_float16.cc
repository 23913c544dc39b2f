// The tile kernels for caches of float16.
#include "kernels/few_rows.h"
#include "kernels/many_rows.h"

namespace fia::FIA_ISA_NAMESPACE {

template void TileFewRows<Float16Element>(const TileArgs& args);
template void TileManyRows<Float16Element>(const TileArgs& args);

}  // namespace fia::FIA_ISA_NAMESPACE
