// Sets of element types.
#ifndef FIA_CHECK_TYPES_H_
#define FIA_CHECK_TYPES_H_

#include <cstdint>
#include <string>

#include "check/message.h"
#include "fia/tensor.h"

namespace fia::check {

// Bit n: the type numbered n.
using TypeSet = std::uint32_t;

constexpr TypeSet Only(DataType dtype) noexcept { return TypeSet{1} << static_cast<unsigned>(dtype); }

constexpr bool Contains(TypeSet types, DataType dtype) noexcept {
  const auto number = static_cast<std::int32_t>(dtype);
  return number >= 0 && number < 32 && (types >> number & 1u) != 0;
}

inline constexpr TypeSet kHalf = Only(DataType::kFloat16);
inline constexpr TypeSet kBfloat = Only(DataType::kBfloat16);
inline constexpr TypeSet kSingle = Only(DataType::kFloat32);
inline constexpr TypeSet kByte = Only(DataType::kInt8);
inline constexpr TypeSet kNibble = Only(DataType::kInt4);
inline constexpr TypeSet kFloats = kHalf | kBfloat | kSingle;

// "float16, bfloat16 or int8"
inline std::string NamesOf(TypeSet types) {
  std::string text;
  for (std::int32_t number = 0; number < 32; ++number) {
    if ((types >> number & 1u) == 0) continue;
    const TypeSet later = number < 31 ? types >> (number + 1) : 0;
    text += NameOf(static_cast<DataType>(number));
    if (later != 0) text += (later & (later - 1)) != 0 ? ", " : " or ";
  }
  return text;
}

}  // namespace fia::check

#endif  // FIA_CHECK_TYPES_H_
