// What a tile takes from the tensors over (query position, key): band, mask and bias.
#ifndef FIA_EXEC_PAIRS_H_
#define FIA_EXEC_PAIRS_H_

#include <cstdint>

#include "exec/item_run.h"

namespace fia {

// Sets args' band, mask and bias for the tile of keys first .. first + args.keys - 1.
void PointAtPairs(const ItemRun& run, std::int64_t first, TileArgs* args) noexcept;

}  // namespace fia

#endif  // FIA_EXEC_PAIRS_H_
