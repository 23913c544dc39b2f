// The parts of the rule antiquant.
#ifndef FIA_CHECK_ANTIQUANT_H_
#define FIA_CHECK_ANTIQUANT_H_

#include <cstdint>

#include "check/context.h"

namespace fia::check {

struct AntiquantModes {
  std::int64_t key;
  std::int64_t value;
};

// The modes by which scales are read. Combined scales have one mode for both, not looked at (0) with several
// query positions.
AntiquantModes ModesOf(const Context& context) noexcept;

// Shapes and types of scales and offsets. The modes are allowed ones.
bool AntiquantScalesFit(Context& context);

}  // namespace fia::check

#endif  // FIA_CHECK_ANTIQUANT_H_
