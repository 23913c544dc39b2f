// The tile kernels for caches of float32.
#include "kernels/few_rows.h"
#include "kernels/many_rows.h"

namespace fia::FIA_ISA_NAMESPACE {

template void TileFewRows<Float32Element>(const TileArgs& args);
template void TileManyRows<Float32Element>(const TileArgs& args);

}  // namespace fia::FIA_ISA_NAMESPACE
