// Queries of a tile to packed rows of float32, or of pairs of bfloat16 for the bodies that multiply those.
#ifndef FIA_KERNELS_QUERY_H_
#define FIA_KERNELS_QUERY_H_

#include "core/kernel_table.h"

namespace fia::FIA_ISA_NAMESPACE {

std::int64_t QueryBytes(Body body, const TileShape& shape);
void LoadQuery(const QueryArgs& args);

}  // namespace fia::FIA_ISA_NAMESPACE

#endif  // FIA_KERNELS_QUERY_H_
