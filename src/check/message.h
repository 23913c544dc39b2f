// Texts of refusals. Built only after a rule has failed: an accepted call pays nothing for them.
#ifndef FIA_CHECK_MESSAGE_H_
#define FIA_CHECK_MESSAGE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "check/shape.h"
#include "fia/tensor.h"

namespace fia::check {

// The name of an element type: "float16"; "type 77" for one the library does not know.
std::string NameOf(DataType dtype);

void Append(std::string* text, std::string_view part);
void Append(std::string* text, std::int64_t number);
void Append(std::string* text, double number);
void Append(std::string* text, DataType dtype);
void Append(std::string* text, const Shape& shape);      // (1,2,3)
void Append(std::string* text, const TensorView& view);  // its shape; the rank is in 0..kMaxRank

// The parts one after another.
template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::string text;
  (Append(&text, parts), ...);
  return text;
}

}  // namespace fia::check

#endif  // FIA_CHECK_MESSAGE_H_
