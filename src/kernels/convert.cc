#include "kernels/convert.h"

#include "kernels/element.h"

namespace fia::FIA_ISA_NAMESPACE {
namespace {

template <class Element>
void ConvertElements(const void* from, std::int64_t stride, std::int64_t count, float* to) {
  constexpr std::int64_t kBytes = Element::kBits / 8;
  const unsigned char* bytes = static_cast<const unsigned char*>(from);
  for (std::int64_t index = 0; index < count; index += kWidth) {
    const std::int64_t here = Smaller(kWidth, count - index);
    if (stride == kBytes) {
      Store(to + index, LoadElementsWithin<Element>(bytes, index, count));
      continue;
    }
    unsigned char gathered[kWidth * kBytes] = {};
    for (std::int64_t lane = 0; lane < here; ++lane) {
      std::memcpy(gathered + lane * kBytes, bytes + (index + lane) * stride, kBytes);
    }
    Store(to + index, Element::Load(gathered));
  }
}

}  // namespace

void ConvertRow(DataType type, const void* from, std::int64_t stride, std::int64_t count, float* to) {
  switch (type) {
    case DataType::kFloat16:
      return ConvertElements<Float16Element>(from, stride, count, to);
    case DataType::kBfloat16:
      return ConvertElements<Bfloat16Element>(from, stride, count, to);
    case DataType::kFloat32:
      return ConvertElements<Float32Element>(from, stride, count, to);
    default:
      return ConvertElements<Int8Element>(from, stride, count, to);
  }
}

}  // namespace fia::FIA_ISA_NAMESPACE
