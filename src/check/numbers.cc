// The rules inner_precise and scale.
#include <cmath>

#include "check/rules.h"

namespace fia::check {

bool CheckInnerPrecise(Context& context) {
  const std::int64_t precise = context.params.scores.inner_precise;
  return (precise >= 0 && precise <= 3) ||
         Refuse(context, "innerPrecise", Text("got ", precise, ", it must be 0 to 3"));
}

bool CheckScale(Context& context) {
  // From here on a double rounds to an infinite float: half a step above the largest one.
  constexpr double kInfiniteFloat = 0x1.ffffffp+127;
  const double scale = context.params.scores.scale;
  return std::fabs(scale) < kInfiniteFloat ||
         Refuse(context, "scaleValue", Text("got ", scale, ", it must be finite as a float32"));
}

}  // namespace fia::check
