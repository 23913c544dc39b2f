#include "check/message.h"

#include <cstdio>

namespace fia::check {
namespace {

struct TypeName {
  DataType dtype;
  const char* name;
};

constexpr TypeName kTypeNames[] = {
    {DataType::kFloat32, "float32"},   {DataType::kFloat16, "float16"}, {DataType::kInt8, "int8"},
    {DataType::kInt32, "int32"},       {DataType::kUint8, "uint8"},     {DataType::kInt16, "int16"},
    {DataType::kUint16, "uint16"},     {DataType::kUint32, "uint32"},   {DataType::kInt64, "int64"},
    {DataType::kUint64, "uint64"},     {DataType::kFloat64, "float64"}, {DataType::kBool, "bool"},
    {DataType::kBfloat16, "bfloat16"}, {DataType::kInt4, "int4"},       {DataType::kUndefined, "undefined"},
};

}  // namespace

std::string NameOf(DataType dtype) {
  for (const TypeName& entry : kTypeNames) {
    if (entry.dtype == dtype) return entry.name;
  }
  return "type " + std::to_string(static_cast<std::int32_t>(dtype));
}

void Append(std::string* text, std::string_view part) { text->append(part); }

void Append(std::string* text, std::int64_t number) { text->append(std::to_string(number)); }

void Append(std::string* text, double number) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%g", number);
  text->append(buffer);
}

void Append(std::string* text, DataType dtype) { text->append(NameOf(dtype)); }

void Append(std::string* text, const Shape& shape) {
  text->push_back('(');
  for (int axis = 0; axis < shape.rank; ++axis) {
    if (axis > 0) text->push_back(',');
    Append(text, shape.dims[axis]);
  }
  text->push_back(')');
}

void Append(std::string* text, const TensorView& view) { Append(text, ShapeOf(view)); }

}  // namespace fia::check
