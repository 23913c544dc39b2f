// Scales and offsets of quantised calls, read from the caller's memory as float.
#ifndef FIA_EXEC_SCALES_H_
#define FIA_EXEC_SCALES_H_

#include <cstdint>

#include "exec/context.h"
#include "exec/item_run.h"

namespace fia {

// Converts the factors and offsets per channel, and those of the output, once for all items.
void PrepareChannels(const RunContext& context) noexcept;

// The keys' factor of this item's head when together with the softmax scale it would overflow float32: then
// it multiplies the query. Else 1.
float KeyFactor(const ItemRun& run) noexcept;

// What q . k is multiplied by for this item's head: the softmax scale and all factors that keys have in
// common, but for KeyFactor.
double ScoreScale(const ItemRun& run) noexcept;

// Sets args' per-token factors and offsets for keys first .. first + args.keys - 1.
void ReadTokenScales(const ItemRun& run, std::int64_t first, TileArgs* args) noexcept;

// quantOffset2 of element `dim` of a head.
float OutputOffset(const RunContext& context, std::int64_t head, std::int64_t dim) noexcept;

}  // namespace fia

#endif  // FIA_EXEC_SCALES_H_
